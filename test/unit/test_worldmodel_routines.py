"""Effects with a name, copies of objects, and which roles arguments stand in."""

from pathlib import Path

import pytest
from small_worlds import KITCHEN, load, salad

from alpha_chaos.plugins import BadSetting
from alpha_chaos.worldmodel.run import Run

MORE = """\
routines:
  infect: {of: [thing, other, celsius], do: [[{germs: thing}, gains, other], [{temperature: thing}, becomes, celsius]]}
  infect_both: {of: [a, b], do: [{infect: [a, b, 30 C]}, {infect: [b, a, {temperature: a}]}]}
actions:
  rub: {roles: {object: food, other: food}, effects: [{infect_both: [object, other]}]}
  halve: {roles: {object: food}, effects: [{create: half, like: object, at: [on, {the: board}]}, [half, becomes, sliced]]}
  warm: {roles: {'food?': food, pan: vessel, 'how_long?': {value: time}}, duration: {if: [how_long, exists], then: how_long, else: 1 min}}
"""  # noqa: E501


def kitchen(folder: Path, more: str = MORE) -> Run:
    return salad(load(folder, KITCHEN.replace('actions:\n', more, 1))).begin()


def germs(run: Run, name: str, id_: str = '1') -> dict[str, int]:
    """Return the sources of germs on an object, with the step that brought them."""
    words = run.domain.words
    item = run.state.named[name, id_]
    elements = run.state.values[item * words.width + words.states['germs'].column]
    return {run.state.labels[element]: origin.step for element, origin in elements.items()}


def celsius(run: Run, name: str) -> float:
    words = run.domain.words
    item = run.state.named[name, '1']
    value: float = run.state.values[item * words.width + words.states['temperature'].column]
    return value - 273.15


def test_a_routine_acts_on_what_is_given_to_it(tmp_path: Path) -> None:
    run = kitchen(tmp_path)
    assert run.step('[RUB] <lettuce> (1) <milk> (1)').done
    assert germs(run, 'lettuce') == {'milk (1)': 1}
    assert germs(run, 'milk') == {'lettuce (1)': 1}
    assert celsius(run, 'lettuce') == pytest.approx(30)
    assert celsius(run, 'milk') == pytest.approx(30)  # as warm as the lettuce had become


def test_a_copy_is_of_the_same_class_in_the_same_state_under_a_name_of_its_own(
    tmp_path: Path,
) -> None:
    run = kitchen(tmp_path)
    assert run.step('[RUB] <lettuce> (1) <milk> (1)').done
    assert run.step('[HALVE] <lettuce> (1)').done
    assert germs(run, 'lettuce', '2') == {'milk (1)': 2}
    first, second = (run.state.named['lettuce', id_] for id_ in '12')
    assert run.state.classes[first] == run.state.classes[second]
    sliced = run.domain.words.bit('sliced')
    assert (run.state.bits[first] & sliced, run.state.bits[second] & sliced) == (0, sliced)
    assert run.state.parent[second] == run.state.named['board', '1']
    (origin,) = run.state.values[
        second * run.domain.words.width + run.domain.words.states['germs'].column
    ].values()
    assert origin.source.cell[0] == first  # so a chain goes on to where the germs came from


@pytest.mark.parametrize(
    ('step', 'seconds'),
    [
        ('[WARM] <pan> (1)', 60),
        ('[WARM] <lettuce> (1) <pan> (1)', 60),
        ('[WARM] <pan> (1) <2_minutes>', 120),
        ('[WARM] <lettuce> (1) <pan> (1) <2_minutes>', 120),
    ],
)
def test_optional_roles_at_both_ends_are_told_apart_by_what_has_an_id(
    tmp_path: Path, step: str, seconds: float
) -> None:
    result = kitchen(tmp_path).step(step)
    assert (result.done, result.seconds) == (True, seconds)


@pytest.mark.parametrize(
    ('old', 'new', 'complaint'),
    [
        ('{infect_both: [object, other]}', '{infect_bath: [object, other]}',
         "unknown effect 'infect_bath', did you mean 'infect_both'"),
        ('{infect_both: [object, other]}', '{infect_both: [object]}',
         'infect_both is about 2: a, b'),
        ('{infect: [a, b, 30 C]}', '{infect_both: [a, b]}',
         'routines go round in a circle: infect_both -> infect_both'),
        ('[{germs: thing}, gains, other]', '[{germs: object}, gains, other]',
         "routines.infect.do[0][0].germs: unknown object 'object'"),
        ('{infect_both: [object, other]}', '[object, becomes, sliced]',
         'routines.infect: nothing uses this routine'),
        ('like: object', 'like: object, class: milk',
         'a copy has its class and all else from what it is like'),
    ],
)  # fmt: skip
def test_a_mistake_in_a_routine_is_named(
    tmp_path: Path, old: str, new: str, complaint: str
) -> None:
    more = MORE.replace(old, new, 1)
    assert more != MORE
    with pytest.raises(BadSetting) as raised:
        kitchen(tmp_path, more)
    assert complaint in str(raised.value)
    assert f'{tmp_path / "world.yaml"}, line ' in str(raised.value)
