"""The grasp weakens, or lets go, as the arm begins to lift."""

from typing import Literal

from numpy.random import Generator
from pydantic import Field, JsonValue

from alpha_chaos.faults.base import Call, Command, Decision, Evidence, Fault, Injector

GRIPPER = 'gripper/command'
ARM = 'arm/move_to'
HEIGHT = 'target.pose.position.z'


class GraspSlip(Fault):
    """On the first lift after a grasp, draw once; if it strikes, grip again with less effort.

    A lift is a motion to a higher point than the motion before it. What is weakened is the effort
    that the gripper said it grips with, else the one it was told. What becomes of the object is
    left to contact and gravity. A gripper that does not carry the command out was not struck.
    """

    kind: Literal['grasp_slip'] = 'grasp_slip'
    effort_factor: float = Field(
        default=0.0, ge=0, lt=1, description='grip effort left after the slip [1]; 0 lets go'
    )
    opening_m: float | None = Field(
        default=None, ge=0, description='opening of the fingers commanded with it [m]'
    )

    @property
    def routes(self) -> tuple[str, ...]:
        """Both halves of a lift: the grasp that came before, and the motion."""
        return (GRIPPER, ARM)

    def injector(self, draws: Generator) -> Injector:
        """Return an injector that has seen no grasp yet."""
        return _Slip(self, draws)


GraspSlip.example = GraspSlip(effort_factor=0.1)


class _Slip(Injector):
    def __init__(self, fault: GraspSlip, draws: Generator) -> None:
        super().__init__()
        self._fault = fault
        self._draws = draws
        self._height_m: float | None = None  # of the last motion commanded
        self._held = ''  # object in the gripper
        self._effort_n = 0.0
        self._latched = False  # this grasp has had its draw
        self._grasps = 0
        self._draw = 0.0  # of the slip that the gripper has been told
        self._failed = 0

    def on_response(self, call: Call) -> None:
        if call.route != GRIPPER or call.response is None or not call.response.get('reached'):
            return
        held = str(call.request.get('object'))
        effort_n = float(call.request.get('max_effort'))
        if effort_n > 0 and call.response.has('effort') and call.response.get('effort') > 0:
            effort_n = float(call.response.get('effort'))
        if call.response.has('stalled') and not call.response.get('stalled'):
            held = ''  # the fingers closed on nothing
        if not held or effort_n <= 0:
            self._held = ''
            return
        if held != self._held:  # gripping on, more or less firmly, is no new grasp
            self._latched = False
            self._grasps += 1
        self._held, self._effort_n = held, effort_n

    def on_request(self, call: Call) -> None:
        if call.route != ARM:
            return
        before_m, self._height_m = self._height_m, float(call.request.get(HEIGHT))
        lifting = before_m is not None and self._height_m > before_m
        if not lifting or not self._held or self._latched:
            return
        self._latched = True
        self._draw = float(self._draws.random())
        if self._draw >= self._fault.probability:
            self._decide_on(slipped=False)
            return
        command = Command(GRIPPER, {'max_effort': self._left_n()})
        if self._fault.opening_m is not None:
            command.changes['opening'] = self._fault.opening_m
        call.commands.append(command)

    def on_command(self, command: Command, succeeded: bool, message: str) -> None:
        if succeeded:
            self._decide_on(slipped=True)
            return
        self._failed += 1
        self._decide_on(slipped=False, failed=message)

    def _left_n(self) -> float:
        return self._fault.effort_factor * self._effort_n

    def _decide_on(self, slipped: bool, **why: JsonValue) -> None:
        self._decide(
            Decision(
                'grasp_slip',
                self._fault.probability,
                self._draw,
                slipped,
                {
                    'object': self._held,
                    'effort_before_n': self._effort_n,
                    'effort_after_n': self._left_n() if slipped else self._effort_n,
                    **why,
                },
            )
        )

    def evidence(self) -> Evidence:
        """Return whether any grasp was lifted, had its draw, and slipped if it should have."""
        detail = self._tally() | {'grasps': self._grasps}
        if self._failed:
            detail['failed'] = self._failed
        return Evidence(self._decided > self._failed, detail)
