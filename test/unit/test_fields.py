"""Paths into messages, and samples that can be looked into."""

import pytest
from fault_traffic import JSON, Message, sample, scene

from alpha_chaos.faults.base import Fields, Sample, Unreadable

SCENE = Fields(scene({'red': (0.5, -0.15, 0.65), 'green': (0.45, 0.125, 0.65)}))


def test_an_element_of_a_list_is_addressed_by_its_index() -> None:
    assert SCENE.get('blocks[1].name') == 'green'
    assert SCENE.get('blocks[0].pose.position.y') == -0.15


def test_a_wildcard_stands_for_every_element_in_order() -> None:
    assert SCENE.each('blocks[*].pose') == ['blocks[0].pose', 'blocks[1].pose']
    assert SCENE.each('blocks[*]') == ['blocks[0]', 'blocks[1]']
    assert SCENE.each('blocks[0].name') == ['blocks[0].name']
    assert Fields(Message(blocks=[])).each('blocks[*].pose') == []


def test_wildcards_in_one_another_stand_for_all_of_them() -> None:
    rows = Fields(Message(rows=[Message(cells=[1, 2]), Message(cells=[3])]))
    paths = rows.each('rows[*].cells[*]')
    assert paths == ['rows[0].cells[0]', 'rows[0].cells[1]', 'rows[1].cells[0]']
    assert [rows.get(path) for path in paths] == [1, 2, 3]


def test_a_field_inside_a_list_and_an_element_itself_can_be_set() -> None:
    fields = Fields(Message(blocks=[Message(name='red')], sizes=[1.0, 2.0]))
    fields.set('blocks[0].name', 'blue')
    fields.set('sizes[1]', 3.0)
    assert fields.message == Message(blocks=[Message(name='blue')], sizes=[1.0, 3.0])


@pytest.mark.parametrize(
    'path', ['blocs[0]', 'blocks[2]', 'blocks[0].nam', 'blocks[0].name[0].x', 'blocks[0].pose[0]']
)
def test_what_is_not_there_can_neither_be_read_nor_set(path: str) -> None:
    assert not SCENE.has(path)
    for use in (SCENE.get, lambda path: SCENE.set(path, 1.0)):
        with pytest.raises(AttributeError):
            use(path)


def test_a_sample_is_looked_into_as_a_copy() -> None:
    seen = sample(0.5, scene())
    fields = seen.fields()
    fields.set('blocks[0].name', 'blue')
    assert seen.fields().get('blocks[0].name') == 'red'
    changed = seen.replaced(fields)
    assert changed.fields().get('blocks[0].name') == 'blue'
    assert (changed.stamp_s, changed.sequence) == (0.5, 1)


def test_bytes_that_are_no_message_say_so() -> None:
    for seen in (Sample(b'\xff', 0.0, 1, JSON), Sample(b'{}', 0.0, 1)):
        with pytest.raises(Unreadable):
            seen.fields()
