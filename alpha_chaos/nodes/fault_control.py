"""The services of a relay by which faults are armed, removed and listed while it runs."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rclpy.node import Node

from alpha_chaos.plugins import BadSetting, from_json
from alpha_chaos.srv import AddFault, ListFaults, RemoveFault, ResetFaults


@dataclass(frozen=True)
class Listed:
    """A fault at work, as `~/list_faults` tells it.

    :param fault: its settings, as JSON
    :param decided: how many messages it has decided about since it was armed; likewise `struck`
    """

    id: int
    fault: str
    decided: int
    struck: int


class FaultControl:
    """Offers them in a relay's name.

    :param arm: arms the fault of these settings, and returns its handle; raises BadSetting
    :param disarm: removes the fault of this handle, one that is armed
    :param armed: returns what is armed
    :param reset: disarms everything
    """

    def __init__(
        self,
        relay: Node,
        arm: Callable[[dict[str, Any]], int],
        disarm: Callable[[int], None],
        armed: Callable[[], list[Listed]],
        reset: Callable[[], None],
    ) -> None:
        self._arm = arm
        self._disarm = disarm
        self._armed = armed
        self._reset = reset
        relay.create_service(AddFault, '~/add_fault', self._on_add)
        relay.create_service(RemoveFault, '~/remove_fault', self._on_remove)
        relay.create_service(ListFaults, '~/list_faults', self._on_list)
        relay.create_service(ResetFaults, '~/reset_faults', self._on_reset)

    def _on_add(self, request: AddFault.Request, response: AddFault.Response) -> AddFault.Response:
        try:
            response.id = self._arm(from_json(request.fault, 'fault'))
            response.ok = True
        except BadSetting as error:
            response.message = str(error)
        return response

    def _on_remove(
        self, request: RemoveFault.Request, response: RemoveFault.Response
    ) -> RemoveFault.Response:
        known = [one.id for one in self._armed()]
        if request.id in known:
            self._disarm(request.id)
            response.ok = True
        else:
            armed = ', '.join(map(str, known)) or 'none'
            response.message = f'no fault {request.id}; armed: {armed}'
        return response

    def _on_list(
        self, _: ListFaults.Request, response: ListFaults.Response
    ) -> ListFaults.Response:
        armed = self._armed()
        response.ids = [one.id for one in armed]
        response.faults = [one.fault for one in armed]
        response.decided = [one.decided for one in armed]
        response.struck = [one.struck for one in armed]
        return response

    def _on_reset(
        self, _: ResetFaults.Request, response: ResetFaults.Response
    ) -> ResetFaults.Response:
        self._reset()
        response.ok = True
        return response
