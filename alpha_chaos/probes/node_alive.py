"""A node is in the graph, all the time."""

from collections.abc import Collection
from typing import Literal

from pydantic import Field, JsonValue

from alpha_chaos.names import Name
from alpha_chaos.probes.base import Finding, GraphSource, Probe, Watch


class NodeAlive(Probe):
    """The node is there at every look.

    A node that was killed stays in the graph until its DDS lease has run out (Fast DDS: 20 s,
    unless a profile says otherwise); one that shuts down is gone at once.
    """

    kind: Literal['node_alive'] = 'node_alive'
    node: Name = Field(description="its full name: '/arm/driver'")

    @property
    def source(self) -> GraphSource:
        """All nodes."""
        return GraphSource(self._full_name)

    @property
    def _full_name(self) -> str:
        return '/' + self.node.lstrip('/')

    def watch(self, start_s: float) -> Watch:
        """Return a watch that has not looked yet."""
        return _Alive(self._full_name)


NodeAlive.example = NodeAlive(node='/driver')


class _Alive(Watch):
    def __init__(self, name: str) -> None:
        self._name = name
        self._looks = 0
        self._missed = 0

    def on_nodes(self, names: Collection[str]) -> None:
        self._looks += 1
        self._missed += self._name not in names

    def judge(self, now_s: float) -> Finding:
        measured: dict[str, JsonValue] = {'looks': self._looks, 'missed': self._missed}
        if self._missed:
            return Finding('deviated', measured, f'{self._name} was not there')
        if not self._looks:
            return Finding('unknown', measured, 'nobody has looked')
        return Finding('held', measured)
