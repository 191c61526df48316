"""Arm, list and disarm the faults of a running relay, where there is no `ros2 service call`.

python docs/examples/faults.py add '{"route": "/chatter", "kind": "lag", "lag_s": 2.0}'
python docs/examples/faults.py list
python docs/examples/faults.py remove 0
python docs/examples/faults.py reset
"""

import sys
from typing import Any

import rclpy
from rclpy.node import Node

from alpha_chaos.srv import AddFault, ListFaults, RemoveFault, ResetFaults

RELAY = '/fault_relay'
PATIENCE_S = 10.0


def ask(kind: Any, name: str, **request: Any) -> Any:
    """Return what a service answers."""
    node = Node('faults')
    client = node.create_client(kind, f'{RELAY}/{name}')
    if not client.wait_for_service(PATIENCE_S):
        raise SystemExit(f'there is no {RELAY}/{name}')
    future = client.call_async(kind.Request(**request))
    rclpy.spin_until_future_complete(node, future, timeout_sec=PATIENCE_S)
    return future.result()


if __name__ == '__main__':
    rclpy.init()
    match sys.argv[1:]:
        case ['add', fault]:
            answer = ask(AddFault, 'add_fault', fault=fault)
            if not answer.ok:
                raise SystemExit(f'refused: {answer.message}')
            print(f'armed with number {answer.id}')
        case ['list']:
            answer = ask(ListFaults, 'list_faults')
            for row in zip(answer.ids, answer.faults, answer.decided, answer.struck, strict=True):
                print('{}: {}, looked at {} messages, struck {}'.format(*row))
        case ['remove', number] if number.isdecimal():
            answer = ask(RemoveFault, 'remove_fault', id=int(number))
            print('disarmed' if answer.ok else answer.message)
        case ['reset']:
            print('disarmed' if ask(ResetFaults, 'reset_faults').ok else 'not disarmed')
        case _:
            raise SystemExit(__doc__)
