"""A planner as a service; the two planner nodes differ in where completions come from."""

import threading
from collections.abc import Callable
from typing import Any

from pydantic import ValidationError

from alpha_chaos.catalogues import planners
from alpha_chaos.experiment import Episode
from alpha_chaos.nodes.convert import (
    block_positions,
    observed_at,
    placement,
    plan_message,
    planner_info,
    vector,
    waypoints,
)
from alpha_chaos.nodes.episode_node import EpisodeNode
from alpha_chaos.nodes.flow import Respond, deferred_service
from alpha_chaos.planners.base import Complete, PlanReply, PlanRequest
from alpha_chaos.plugins import explain, parse
from alpha_chaos.printable import printable
from alpha_chaos.srv import Plan, Reset


class PlannerNode(EpisodeNode):
    """Answers `~/plan` with the planner that the episode's arm names.

    Planning runs in a thread, so that the node keeps answering while a model thinks.
    """

    def __init__(self, name: str, complete: Complete | None = None, **options: Any) -> None:
        super().__init__(name, **options)
        self._complete = complete
        deferred_service(self, Plan, '~/plan', self._on_plan)

    def begin(self, episode: Episode, request: Reset.Request) -> None:
        """Take the planner of the episode's arm, if it is one of this node's."""
        planner = parse(planners(), episode.planner, 'planner')
        self._planner = planner if planner.node == self.get_name() else None

    def _on_plan(self, request: Plan.Request, response: Plan.Response, respond: Respond) -> None:
        if not self.is_mine(request.episode_id) or self._planner is None:
            response.error, response.infrastructure = 'wrong_episode', True
            response.message = (
                f'{self.get_name()} runs {self.episode_id!r} and plans for its arm only'
            )
            respond(response)
            return
        try:
            asked = _asked(request)
        except ValidationError as error:
            response.error, response.infrastructure = 'bad_request', True
            response.message = printable(explain(error))
            respond(response)
            return
        planner, complete = self._planner, self._complete

        def think() -> None:
            try:
                reply = planner.plan(asked, complete)
                fill: Callable[[], None] = lambda: _fill(response, reply, request)  # noqa: E731
            except Exception as error:  # the supervisor aborts the attempt; the node lives on
                # The log takes no more than a message does.
                message = printable(f'{type(error).__name__}: {error}')
                self.get_logger().error(f'planner failed: {message}')

                def fill() -> None:
                    response.error, response.infrastructure = 'planner_crashed', True
                    response.message = message

            def answer() -> None:
                fill()
                respond(response)

            if self.executor is not None:
                self.executor.create_task(answer)

        # A daemon: a thought that nobody will hear must not keep the process alive.
        threading.Thread(target=think, daemon=True).start()


def _asked(request: Plan.Request) -> PlanRequest:
    return PlanRequest(
        block=request.block,
        zone=vector(request.zone),
        success_radius=request.success_radius,
        blocks=block_positions(request.scene),
        observed_s=observed_at(request.scene),
        waypoints=waypoints(request.waypoints),
        reasons=tuple(request.reasons),
        placements=tuple(map(placement, request.placements)),
    )


def _fill(response: Plan.Response, reply: PlanReply, request: Plan.Request) -> None:
    response.error, response.message = reply.error, printable(reply.message)
    response.infrastructure = reply.infrastructure
    response.info = planner_info(reply.info)
    if reply.plan is not None:
        response.typed = True
        response.plan = plan_message(reply.plan, request.scene.header, request.episode_id)
    elif reply.text is not None:
        response.text = printable(reply.text)
