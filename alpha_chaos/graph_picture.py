"""A graph of nodes as a picture, in the language of Graphviz."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Literal

Kind = Literal['topic', 'service', 'action']

# A request goes the way of the arrow; what comes back is not drawn.
_LINES: dict[Kind, str] = {
    'topic': 'solid',
    'service': 'dashed',
    'action': 'bold',
}


@dataclass(frozen=True, order=True)
class Wire:
    """Something that goes from one node to another.

    :param name: of the topic, service or action
    """

    source: str
    target: str
    kind: Kind
    name: str


def dot(nodes: Iterable[str], wires: Iterable[Wire], without: Collection[str] = ()) -> str:
    """Return the picture; everything between two nodes that is of one kind is one line.

    :param without: nodes that are left out, such as those that hear everything
    """
    lines = [
        'digraph {',
        '  rankdir=LR; ranksep=1.2; nodesep=0.4;',
        '  node [shape=box, style="rounded,filled", fillcolor="#eef2f7", fontname=sans];',
        '  edge [fontname=sans, fontsize=10, color="#445566"];',
    ]
    lines += [f'  {_quoted(node)};' for node in sorted(nodes) if node not in without]
    bundles: dict[tuple[str, str, Kind], list[str]] = {}
    for wire in sorted(wires):
        if wire.source not in without and wire.target not in without:
            bundles.setdefault((wire.source, wire.target, wire.kind), []).append(wire.name)
    for (source, target, kind), names in bundles.items():
        label = _quoted('\n'.join(names))
        lines.append(
            f'  {_quoted(source)} -> {_quoted(target)} [style={_LINES[kind]}, label={label}];'
        )
    return '\n'.join([*lines, '}', ''])


def _quoted(text: str) -> str:
    escaped = text.replace('\\', '\\\\').replace('"', '\\"').replace('\n', '\\n')
    return f'"{escaped}"'
