"""A graph of nodes as a picture."""

from alpha_chaos.graph_picture import Wire, dot

WIRES = [
    Wire('/sim', '/eyes', 'topic', '/objects'),
    Wire('/sim', '/eyes', 'topic', '/clock'),
    Wire('/boss', '/sim', 'service', '/sim/advance'),
    Wire('/hand', '/sim', 'action', '/arm/move_to'),
]


def lines(text):
    return [line.strip() for line in text.splitlines()]


def test_what_goes_between_two_nodes_is_one_line_for_each_kind():
    found = lines(dot(['/sim', '/eyes', '/boss', '/hand'], WIRES))
    assert '"/sim" -> "/eyes" [style=solid, label="/clock\\n/objects"];' in found
    assert '"/boss" -> "/sim" [style=dashed, label="/sim/advance"];' in found
    assert '"/hand" -> "/sim" [style=bold, label="/arm/move_to"];' in found
    assert sum('->' in line for line in found) == 3


def test_the_order_of_what_was_found_changes_nothing():
    nodes = ['/sim', '/eyes', '/boss', '/hand']
    assert dot(nodes, WIRES) == dot(reversed(nodes), reversed(WIRES))


def test_what_is_left_out_leaves_no_line():
    found = dot(['/sim', '/eyes', '/boss', '/hand'], WIRES, without=['/sim'])
    assert '/sim' not in found
    assert '->' not in found


def test_names_cannot_break_the_picture():
    assert '"a\\"b\\\\" -> "c"' in dot([], [Wire('a"b\\', 'c', 'topic', 'x')])
