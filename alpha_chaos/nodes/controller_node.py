"""The controller: carries out a validated plan; it knows neither faults nor physics."""

from typing import Any

from geometry_msgs.msg import Pose, PoseStamped
from pydantic import Field
from rclpy.action import ActionClient, ActionServer, CancelResponse, GoalResponse
from std_msgs.msg import Header

from alpha_chaos.action import ExecutePlan, GripperCommand, MoveTo
from alpha_chaos.msg import Action
from alpha_chaos.nodes.episode_node import EpisodeNode, EpisodeParams
from alpha_chaos.nodes.flow import Wait
from alpha_chaos.nodes.goals import KEEP_RESULT_S, Done, PendingGoals, describe
from alpha_chaos.nodes.spin import run


class ControllerParams(EpisodeParams):
    """Parameters of the controller."""

    grip_effort: float = Field(500.0, gt=0, description='grip force asked for by GRIP [N]')
    open_width: float = Field(0.08, gt=0, description='opening asked for by RELEASE [m]')


class ControllerNode(EpisodeNode):
    """Turns actions of a plan into goals for the arm and the gripper, one after the other."""

    params_model = ControllerParams
    params: ControllerParams

    def __init__(self, **options: Any) -> None:
        super().__init__('controller', **options)
        self._arm = ActionClient(self, MoveTo, 'arm/move_to')
        self._gripper = ActionClient(self, GripperCommand, 'gripper/command')
        self._goals = PendingGoals(self, self._execute)
        self._driver: Any = None  # handle of the goal that is being carried out
        self._server = ActionServer(
            self,
            ExecutePlan,
            'execute_plan',
            self._goals.result,
            goal_callback=self._accept,
            handle_accepted_callback=self._goals.start,
            cancel_callback=self._on_cancel,
            result_timeout=KEEP_RESULT_S,
        )

    def check(self) -> None:
        """Wait for arm and gripper, and for a plan that is still being carried out."""
        self.require(self._arm.server_is_ready(), 'arm/move_to')
        self.require(self._gripper.server_is_ready(), 'gripper/command')
        self.require(not self._goals.busy, 'the plan under way')

    def _accept(self, goal: ExecutePlan.Goal) -> GoalResponse:
        mine = self.is_mine(goal.plan.episode_id)
        if mine and goal.plan.actions and not self._goals.busy:
            return GoalResponse.ACCEPT
        self.get_logger().warning(
            f'refused a plan of {goal.plan.episode_id!r} with {len(goal.plan.actions)} actions'
        )
        return GoalResponse.REJECT

    def _on_cancel(self, _: Any) -> CancelResponse:
        if self._driver is not None:
            self._driver.cancel_goal_async()
        return CancelResponse.ACCEPT

    async def _execute(self, handle: Any) -> Done:
        plan, result = handle.request.plan, ExecutePlan.Result()
        for index, action in enumerate(plan.actions):
            if handle.is_cancel_requested:
                result.message = 'cancelled'
                break
            text = describe(action)
            handle.publish_feedback(ExecutePlan.Feedback(index=index, action=text))
            reached, why = await self._carry_out(action, handle)
            if not reached:
                result.message = f'action {index} {text}: {why}'
                break
            result.executed += 1
        result.completed = result.executed == len(plan.actions)
        return Done(result, result.completed)

    async def _carry_out(self, action: Action, handle: Any) -> tuple[bool, str]:
        plan = handle.request.plan
        client, goal = self._goal(action, plan.header, plan.episode_id)
        accepted: Any = await Wait(client.send_goal_async(goal))
        if not accepted.accepted:
            return False, 'refused by the driver'
        self._driver = accepted
        if handle.is_cancel_requested:  # before there was anything to cancel
            accepted.cancel_goal_async()
        try:
            answer: Any = await Wait(accepted.get_result_async())
        finally:
            self._driver = None
        return bool(answer.result.reached), str(answer.result.message)

    def _goal(self, action: Action, header: Header, episode: str) -> tuple[ActionClient, Any]:
        if action.kind == Action.MOVE_TO:
            target = PoseStamped(header=header, pose=Pose(position=action.target))
            return self._arm, MoveTo.Goal(episode_id=episode, target=target, position_only=True)
        holds = action.kind == Action.GRIP
        return self._gripper, GripperCommand.Goal(
            episode_id=episode,
            opening=0.0 if holds else self.params.open_width,
            max_effort=self.params.grip_effort if holds else 0.0,
            object=action.block,
        )


def main() -> int:
    """Run the node."""
    return run(ControllerNode)


if __name__ == '__main__':
    raise SystemExit(main())
