"""Between messages and domain objects, one function a pair."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from geometry_msgs.msg import Point
from std_msgs.msg import Header

from alpha_chaos.guard import Failure
from alpha_chaos.msg import (
    Action,
    ActionPlan,
    PlanFailure,
    PlannerInfo,
    SceneObservation,
    StepState,
)
from alpha_chaos.msg import Placement as PlacementMessage
from alpha_chaos.msg import SafetyEvent as SafetyEventMessage
from alpha_chaos.msg import Waypoints as WaypointsMessage
from alpha_chaos.nodes.clock import to_seconds
from alpha_chaos.plan import ActionPlan as Plan
from alpha_chaos.plan import Grip, MoveTo, Placement, ResolvedMoveTo, Vector, Waypoints
from alpha_chaos.planners.base import Provenance
from alpha_chaos.printable import printable
from alpha_chaos.safety.dedup import SafetyEvent
from alpha_chaos.safety.rules import StepView


def vector(point: Point) -> Vector:
    """Return a point as numbers [m]."""
    return point.x, point.y, point.z


def point(values: Sequence[float]) -> Point:
    """Return numbers [m] as a point."""
    return Point(x=float(values[0]), y=float(values[1]), z=float(values[2]))


def step_view(message: StepState, names: tuple[str, ...]) -> StepView:
    """Return what the safety rules see of a step; the arrays are not copied."""
    return StepView(
        step=message.step,
        object_names=names,
        object_position_m=np.asarray(message.object_pose).reshape(-1, 7)[:, :3],
        held=message.held_object,
        contact_link=np.asarray(message.contact_link, np.int32),
        contact_object=np.asarray(message.contact_object, np.int32),
        contact_force_n=np.asarray(message.contact_normal_force),
    )


def safety_event(event: SafetyEvent, stamp: Any, episode_id: str) -> SafetyEventMessage:
    """Return an event as a message."""
    return SafetyEventMessage(
        stamp=stamp,
        episode_id=episode_id,
        rule=event.rule,
        key=event.key,
        open_step=event.open_step,
        close_step=event.close_step,
        duration_steps=event.duration_steps,
        raw_sweeps=event.raw_sweeps,
        peak=float(event.peak),
        open_at_end=event.open_at_end,
    )


def block_positions(scene: SceneObservation) -> dict[str, Vector]:
    """Return what a scene says about every block [m]."""
    return {block.name: vector(block.pose.position) for block in scene.blocks}


def observed_at(scene: SceneObservation) -> float:
    """Return when a scene was sampled, in simulated time [s]."""
    return to_seconds(scene.header.stamp)


def waypoints(message: WaypointsMessage) -> Waypoints:
    """Return how far above blocks and zone the named waypoints lie [m]."""
    return Waypoints(
        hover=message.hover,
        grasp=message.grasp,
        lift=message.lift,
        zone_hover=message.zone_hover,
        zone_place=message.zone_place,
        zone_stack=message.zone_stack,
    )


def waypoints_message(waypoints: Waypoints) -> WaypointsMessage:
    """Return the same as a message."""
    return WaypointsMessage(**waypoints.model_dump())


def placement(message: PlacementMessage) -> Placement:
    """Return where a block shall end."""
    return Placement(
        block=message.block,
        position_m=vector(message.position),
        radius_m=message.radius,
        zone=message.zone,
        base=message.base,
    )


def placement_message(placement: Placement) -> PlacementMessage:
    """Return the same as a message."""
    return PlacementMessage(
        block=placement.block,
        zone=placement.zone,
        base=placement.base,
        position=point(placement.position_m),
        radius=placement.radius_m,
    )


def failure_message(failure: Failure) -> PlanFailure:
    """Return what is wrong with a plan as a message."""
    return PlanFailure(
        action=failure.action,
        rule=failure.rule,
        family=failure.family,
        kind=failure.kind,
        severity=failure.severity,
        reversible=failure.reversible,
        message=printable(failure.message),
        planted=failure.planted,
        sealed=failure.sealed,
        position=point(failure.position_m),
    )


def plan_message(plan: Plan, header: Header, episode_id: str) -> ActionPlan:
    """Return a resolved plan as a message."""
    actions = []
    for action in plan.actions:
        if isinstance(action, ResolvedMoveTo):
            actions.append(
                Action(kind=Action.MOVE_TO, waypoint=action.waypoint, target=point(action.target))
            )
        elif isinstance(action, MoveTo):
            raise ValueError(f'target {action.target!r} has no coordinates yet')
        elif isinstance(action, Grip):
            actions.append(Action(kind=Action.GRIP, block=action.block))
        else:
            actions.append(Action(kind=Action.RELEASE))
    return ActionPlan(header=header, episode_id=episode_id, actions=actions)


def planner_info(provenance: Provenance) -> PlannerInfo:
    """Return where a plan came from as a message."""
    return PlannerInfo(
        planner=provenance.planner,
        provider=provenance.provider,
        model=provenance.model,
        digest=provenance.digest,
        prompt_sha256=provenance.prompt_sha256,
        prompt_tokens=provenance.prompt_tokens,
        completion_tokens=provenance.completion_tokens,
        wall_time=float(provenance.wall_s),
        cached=provenance.cached,
        done_reason=provenance.done_reason,
    )
