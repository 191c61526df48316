"""How a service passes a relay: requests one way, answers the other, each to whoever asked.

Nothing waits for anything else: any number of calls is under way at a time. A call that the server
never answers is never answered, as without a relay; its client gives up when it likes to.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message, serialize_message

from alpha_chaos.nodes.flow import Respond, deferred_service
from alpha_chaos.nodes.interfaces import load_part
from alpha_chaos.nodes.relay_lane import Lane, Relay
from alpha_chaos.plugins import BadSetting
from alpha_chaos.transit.base import Passage

# A server keeps 10 requests until it looks at them, and so does each client with answers. The
# relay stands for all clients and must not be where a call is lost.
_QOS = QoSProfile(depth=1000)
# So many looks in a row without a server, and it has gone; discovery has its weak moments.
_GONE_LOOKS = 5
_RCLError = rclpy_implementation.RCLError

Graph = Mapping[str, Sequence[str]]  # types of services, by name


class CallLeg:
    """Passes a service on under another name, while somebody serves it.

    :param type: name of the type, empty to find it in the graph
    """

    def __init__(
        self, relay: Relay, requests: Lane, responses: Lane, name: str, output: str, type: str
    ) -> None:
        self.name = name
        self._relay = relay
        self._requests = requests
        self._responses = responses
        self._output = output
        self._type = type
        self._tried = ''  # name of the type that the client is of
        self._kind: Any = None
        self._client: Any = None
        self._server: Any = None
        self._absent = 0  # looks in a row that found no server
        self._waiting: dict[Any, None] = {}  # futures of answers, oldest first

    @property
    def waiting(self) -> int:
        """Number of calls that the server has not answered yet."""
        return len(self._waiting)

    def look(self, graph: Graph) -> None:
        """Look who serves it; serve it as long as somebody does.

        A name is in the graph as soon as anybody wants to call it, so it proves no server, and its
        types none of a server's: each is tried in its turn.
        """
        try:
            if self._client is None and not self._find(graph):
                return
            if self._client.service_is_ready():
                self._absent = 0
                if self._server is None:
                    self._serve()
                return
        except (BadSetting, _RCLError) as error:  # and looks again: who is in the way may go
            self._relay.problem(self.name, str(error))
            return
        self._absent += 1
        if self._absent < _GONE_LOOKS:
            return
        self._absent = 0
        if self._server is not None:
            self._unserve()
        if self._types(graph) != [self._tried]:
            self._relay.node.destroy_client(self._client)
            self._client = self._requests.send = None

    def _types(self, graph: Graph) -> list[str]:
        return sorted(one for one in graph.get(self.name, ()) if self._type in ('', one))

    def _find(self, graph: Graph) -> bool:
        types = self._types(graph)
        if not types:
            for other in graph.get(self.name, ()):
                self._relay.problem(self.name, f'is {other}; the file says {self._type}')
            return False
        self._tried = next((one for one in types if one > self._tried), types[0])
        self._kind = load_part(self._tried)
        self._client = self._relay.node.create_client(self._kind, self.name, qos_profile=_QOS)
        return True

    def _serve(self) -> None:
        self._server = deferred_service(
            self._relay.node, self._kind, self._output, self._on_request, qos_profile=_QOS
        )
        self._requests.open(self._kind.Request, self._forward_parcel, self._kind.Response)
        self._responses.open(self._kind.Response, self._answer_parcel)
        self._relay.node.get_logger().info(f'{self.name} is served as {self._output}')

    def _unserve(self) -> None:
        self._relay.node.destroy_service(self._server)
        self._server = None
        for future in tuple(self._waiting):
            self._give_up(future)

    def _give_up(self, future: Any) -> None:
        del self._waiting[future]
        self._client.remove_pending_request(future)

    def _on_request(self, request: Any, _: Any, respond: Respond) -> None:
        server = self._server

        def answer(response: Any) -> None:
            if server is self._server:  # else it went, and nobody can be answered through it
                respond(response)

        self._requests.sequence += 1
        if self._requests.stack.idle:
            self._forward(request, answer)
        else:
            self._requests.take(serialize_message(request), answer)

    def _forward_parcel(self, passage: Passage) -> None:
        if passage.answer is not None:
            self._on_response(passage.answer, passage.parcel.call)
        else:
            data = passage.parcel.data
            self._forward(deserialize_message(data, self._requests.kind), passage.parcel.call)

    def _forward(self, request: Any, answer: Respond) -> None:
        future = self._client.call_async(request)
        self._waiting[future] = None
        if len(self._waiting) > self._relay.limits.messages:
            self._give_up(next(iter(self._waiting)))
            self._relay.problem(
                self.name, 'too many calls wait for an answer; the oldest are lost'
            )

        def on_done(done: Any) -> None:
            del self._waiting[done]
            self._on_response(done.result(), answer)

        future.add_done_callback(on_done)

    def _on_response(self, response: Any, answer: Respond) -> None:
        self._responses.sequence += 1
        if self._responses.stack.idle:
            answer(response)
        else:
            self._responses.take(serialize_message(response), answer)

    def _answer_parcel(self, passage: Passage) -> None:
        data = passage.parcel.data
        passage.parcel.call(deserialize_message(data, self._responses.kind))
