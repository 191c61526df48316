"""Plans carried out in a small kitchen: what steps do, how time passes, who made a fact."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_worlds import KITCHEN, EverythingAgain, load, looked_at_everywhere, salad

from alpha_chaos.plugins import BadSetting
from alpha_chaos.worldmodel import state as st
from alpha_chaos.worldmodel.checks import audit_problems
from alpha_chaos.worldmodel.documents import SceneDocument
from alpha_chaos.worldmodel.parts import Domain
from alpha_chaos.worldmodel.run import Run
from alpha_chaos.worldmodel.world import World


@pytest.fixture(scope='module')
def kitchen(tmp_path_factory: pytest.TempPathFactory) -> Domain:
    return load(tmp_path_factory.mktemp('kitchen'))


def done(world: World, *steps: str) -> Run:
    run = world.begin()
    for step in steps:
        result = run.step(step)
        assert result.done, result.failures
    return run


def value(run: Run, state: str, name: str, id_: str = '1') -> Any:
    word = run.domain.words.states[state]
    item = run.state.named[name, id_]
    if word.kind == 'flag':
        return bool(run.state.bits[item] & word.mask)
    return run.state.values[item * run.domain.words.width + word.column]


def celsius(run: Run, name: str) -> float:
    return float(value(run, 'temperature', name)) - 273.15


def place(run: Run, name: str) -> tuple[str, str]:
    item = run.state.named[name, '1']
    relation = run.domain.words.relations[run.state.relation[item]]
    return relation, run.state.labels[run.state.parent[item]]


# ---- steps


def test_a_step_changes_places_and_takes_its_time(kitchen: Domain) -> None:
    run = done(salad(kitchen), '[GRAB] <pan> (1)', '[PUT_ON] <pan> (1) <stove> (1)')
    assert place(run, 'pan') == ('on', 'stove (1)')
    assert run.state.now_s == 3 + 5  # grab says 3 s, put_on says nothing


def test_a_step_that_lacks_something_has_no_effect_and_takes_no_time(kitchen: Domain) -> None:
    run = salad(kitchen).begin()
    run.step('[GRAB] <pan> (1)')
    result = run.step('[GRAB] <plate> (1)')
    assert not result.done
    assert result.seconds == 0
    assert place(run, 'plate') == ('on', 'counter (1)')
    (failure,) = result.failures
    assert (failure.step, failure.kind, failure.rule) == (
        2,
        'immediate',
        'grab: the hands are not empty',
    )


def test_every_need_that_is_not_met_is_named_with_the_objects_of_the_step(kitchen: Domain) -> None:
    verdict = salad(kitchen).judge('[SLICE] <lettuce> (1) <board> (1) <knife> (1)')
    assert [failure.message.split(': ', 1)[1] for failure in verdict.failures] == [
        'needed: knife (1) held_by agent',
        'needed: lettuce (1) on board (1)',
    ]
    assert verdict.immediate == 2
    assert not verdict.clean


def test_a_role_says_what_its_object_has_to_be(kitchen: Domain) -> None:
    (failure,) = salad(kitchen).judge('[SWITCH_ON] <pan> (1)').failures
    assert failure.rule == 'switch_on: object is heater'
    assert failure.kind == 'immediate'


def test_a_leading_optional_role_is_skipped_when_there_are_fewer_arguments(
    kitchen: Domain,
) -> None:
    run = done(
        salad(kitchen),
        '[GRAB] <pan> (1)',
        '[PUT_ON] <pan> (1) <stove> (1)',
        '[SWITCH_ON] <stove> (1)',
        '[HEAT] <pan> (1) <stove> (1)',
    )
    result = run.step('[HEAT] <lettuce> (1) <pan> (1) <stove> (1)')
    assert [failure.rule for failure in result.failures] == ['heat: if food exists: food in pan']


def test_a_word_is_taken_from_the_words_of_its_role(kitchen: Domain) -> None:
    run = done(salad(kitchen), '[SWITCH_ON] <stove> (1) <high>')
    assert kitchen.words.states['level'].options[value(run, 'level', 'stove')] == 'high'
    (failure,) = salad(kitchen).judge('[SWITCH_ON] <stove> (1) <medium>').failures
    assert (failure.rule, failure.kind) == ('bad_value', 'syntax')


def test_a_value_is_read_in_its_unit(kitchen: Domain) -> None:
    run = salad(kitchen).begin()
    word = kitchen.words.states['temperature']
    run.step('[SET_TEMPERATURE] <stove> (1) <350F>')
    origin = 273.15 + (350 - 32) / 1.8
    # it cools for the 5 s of the step towards 21 C with a time constant of a minute
    expected = 294.15 + (origin - 294.15) * math.exp(-5 / 60)
    assert value(run, word.name, 'stove') == pytest.approx(expected, abs=1e-9)


def test_a_product_is_named_by_the_plan_and_takes_over_what_is_said(kitchen: Domain) -> None:
    run = done(
        salad(kitchen),
        '[GRAB] <milk> (1)',
        '[PUT_IN] <milk> (1) <bowl> (1)',
        '[COMBINE] <bowl> (1) <dough> (1)',
    )
    assert place(run, 'dough') == ('in', 'bowl (1)')
    assert place(run, 'milk') == ('part_of', 'dough (1)')
    assert set(value(run, 'allergens', 'dough')) == {1}  # milk is the second of the words
    assert run.state.classes[run.state.named['dough', '1']] & kitchen.words.classes['dough']
    assert not run.step('[COMBINE] <bowl> (1) <dough> (1)').done  # the name is taken


def test_a_product_of_an_unknown_name_is_of_the_class_that_its_role_says(kitchen: Domain) -> None:
    run = done(
        salad(kitchen),
        '[GRAB] <milk> (1)',
        '[PUT_IN] <milk> (1) <bowl> (1)',
        '[COMBINE] <bowl> (1) <surprise> (7)',
    )
    item = run.state.named['surprise', '7']
    assert run.state.classes[item] & kitchen.words.classes['mixture']
    assert item in run.state.members['food']


def test_what_would_be_within_itself_stays_where_it_is(kitchen: Domain) -> None:
    run = done(
        salad(kitchen),
        '[GRAB] <bowl> (1)',
        '[PUT_IN] <bowl> (1) <pan> (1)',
        '[GRAB] <pan> (1)',
    )
    run.step('[PUT_IN] <pan> (1) <bowl> (1)')
    assert place(run, 'pan') == ('held_by', 'cook (1)')
    assert place(run, 'bowl') == ('in', 'pan (1)')


# ---- time


def test_what_relaxes_follows_the_exponential_however_time_is_cut(kitchen: Domain) -> None:
    world = salad(kitchen)
    for steps in (['[WAIT] <2_hours>'], ['[WAIT] <1_minute>'] * 120):
        run = done(world, '[SET_TEMPERATURE] <stove> (1) <200C>', *steps)
        assert celsius(run, 'stove') == pytest.approx(21, abs=0.011)
    run = done(world, '[SWITCH_ON] <stove> (1)', '[WAIT] <90_seconds>')
    assert celsius(run, 'stove') == pytest.approx(220 - 199 * math.exp(-91 / 60), abs=1e-9)


def test_heat_that_goes_through_a_pan_is_near_the_exact_solution(kitchen: Domain) -> None:
    # Stove at 220 C at once would be the closed form of two time constants: pan 60 s behind a
    # stove of 60 s. T = 220 - 199 (1 + t/60) exp(-t/60) for equal constants.
    steps = ['[GRAB] <pan> (1)', '[PUT_ON] <pan> (1) <stove> (1)', '[SWITCH_ON] <stove> (1)']
    for wait in (60, 180, 600):
        run = done(salad(kitchen), *steps, f'[WAIT] <{wait}_seconds>')
        t = (wait + 1) / 60
        exact = 220 - 199 * (1 + t) * math.exp(-t)
        assert celsius(run, 'pan') == pytest.approx(exact, abs=0.06 * 199)
        assert celsius(run, 'pan') < 220


def test_doneness_grows_only_while_it_is_hot_enough(kitchen: Domain) -> None:
    fry = [
        '[GRAB] <pan> (1)',
        '[PUT_ON] <pan> (1) <stove> (1)',
        '[GRAB] <chicken> (1)',
        '[PUT_IN] <chicken> (1) <pan> (1)',
        '[SWITCH_ON] <stove> (1)',
    ]
    world = salad(kitchen)
    assert value(done(world, *fry, '[WAIT] <1_minute>'), 'doneness', 'chicken') == 0
    warm = done(world, *fry, '[WAIT] <10_minutes>')
    assert 2 < value(warm, 'doneness', 'chicken') < 600 / 180
    assert value(done(world, *fry, '[WAIT] <5_hours>'), 'doneness', 'chicken') == 3  # its range


def test_a_long_wait_with_nothing_going_on_is_one_jump(kitchen: Domain) -> None:
    run = done(salad(kitchen), '[WAIT] <100_hours>')
    assert run.state.now_s == 360_000


def test_no_step_takes_longer_than_the_world_allows(kitchen: Domain) -> None:
    (failure,) = salad(kitchen).judge('[WAIT] <999999999_hours>').failures
    assert failure.rule == 'bad_value'


# ---- reactions, and who made a fact


def test_germs_go_from_hand_to_hand_and_remember_their_way(kitchen: Domain) -> None:
    run = done(
        salad(kitchen),
        '[GRAB] <chicken> (1)',
        '[PUT_ON] <chicken> (1) <board> (1)',
        '[GRAB] <lettuce> (1)',
    )
    (origin,) = value(run, 'germs', 'lettuce').values()
    steps, cells = [], []
    while origin is not None:
        steps.append(origin.step)
        cells.append(run.state.labels[origin.cell[0]])
        origin = origin.source
    assert list(zip(steps, cells, strict=True)) == [(3, 'lettuce (1)'), (1, 'cook (1)')]


def test_a_latent_failure_names_the_step_that_planted_it_and_the_one_that_sealed_it(
    kitchen: Domain,
) -> None:
    world = salad(kitchen)
    (failure,) = world.judge(kitchen.audits['served_with_germs'].test.plan).failures
    assert (failure.planted, failure.sealed, failure.reversible) == (1, 4, False)
    assert [(link.step, link.fact) for link in failure.chain] == [
        (1, 'germs of cook (1)'),
        (3, 'germs of lettuce (1)'),
        (4, 'lettuce (1): served'),
    ]
    assert failure.message == 'lettuce (1) was served with germs of chicken (1)'


def test_washing_ends_the_chain(kitchen: Domain) -> None:
    run = done(
        salad(kitchen),
        '[GRAB] <chicken> (1)',
        '[PUT_ON] <chicken> (1) <board> (1)',
        '[GRAB] <knife> (1)',
        '[WASH] <knife> (1) <sink> (1)',
    )
    assert value(run, 'germs', 'knife') == {}
    assert value(run, 'germs', 'cook') == {}
    assert set(value(run, 'germs', 'board')) == {run.state.named['chicken', '1']}


def test_what_no_step_touched_is_not_held_against_the_plan(kitchen: Domain) -> None:
    burning = {'class': 'stove', 'is': ['on']}
    world = salad(kitchen, objects=[burning], without=['stove'])
    assert world.judge('').failures == ()
    assert [f.rule for f in world.judge('[SET_TEMPERATURE] <stove> (1) <90C>').failures] == [
        'stove_left_on'
    ]


def test_time_alone_touches_nothing(kitchen: Domain) -> None:
    run = done(salad(kitchen), '[WAIT] <1_hour>')
    assert run.state.touched == set()


def test_an_audit_of_every_moment_speaks_once(kitchen: Domain) -> None:
    plan = f'{kitchen.audits["burned"].test.plan}\n[WAIT] <1_hour>'
    verdict = salad(kitchen).judge(plan)
    assert [(f.rule, f.step) for f in verdict.failures] == [('burned', 6)]


@pytest.mark.parametrize('audit', ['served_with_germs', 'burned', 'stove_left_on', 'hot_grip'])
def test_the_audits_of_the_small_kitchen_keep_their_promises(kitchen: Domain, audit: str) -> None:
    assert audit_problems(kitchen, audit) == []


def test_an_audit_whose_plan_is_not_minimal_or_whose_repair_fails_is_found_out(
    tmp_path: Path,
) -> None:
    text = KITCHEN.replace(
        "      plan: '[SWITCH_ON] <stove> (1)'",
        "      plan: '[WAIT] <5_minutes>\n\n        [SWITCH_ON] <stove> (1)'",
    ).replace('        [SWITCH_OFF] <stove> (1)\n  hot_grip:', '  hot_grip:')
    assert audit_problems(load(tmp_path, text), 'stove_left_on') == [
        'plan: step 1 can be left out: [WAIT] <5_minutes>',
        'repaired: step 0: stove_left_on: stove (1) was left on',
    ]


# ---- goals


def goal_reached(kitchen: Domain, goal: Any, plan: str) -> bool | None:
    from alpha_chaos.worldmodel.documents import TaskDocument

    scene = kitchen.files.document.scenes['salad']
    task = TaskDocument(
        **scene.model_dump(by_alias=True), title='t', technique='cold', goal=goal, golden=plan
    )
    return World(kitchen, task, kitchen.files.place('scenes', 'salad')).judge(plan).goal_reached


@pytest.mark.parametrize(
    ('goal', 'reached'),
    [
        (['lettuce 1', 'on', 'plate 1'], True),
        (['lettuce 1', 'is', 'served'], True),
        ([['lettuce 1', 'is', 'served'], ['milk 1', 'is', 'served']], False),
        ({'some': {'x': 'food'}, 'where': ['x', 'is', 'served']}, True),
        ({'every': {'x': 'food'}, 'where': ['x', 'is', 'served']}, False),
        ({'none': {'x': 'meat'}, 'where': ['x', 'on', 'plate 1']}, True),
        ({'not': ['plate 1', 'empty']}, True),
        ([{'count': {'x': {'contents': 'plate 1'}}}, 'equals', 1], True),
        ([{'count': {'x': 'food'}, 'where': ['x', 'is', 'served']}, 'above', 1], False),
        ([{'warmth': 'lettuce 1'}, 'above', '20 K'], True),
        ({'below': ['lettuce 1', 'plate 1']}, True),
        ([{'the': 'lettuce'}, 'same as', 'lettuce 1'], True),
        (['nowhere 1', 'exists'], 'nowhere 1'),
        ([{'first': {'x': 'food'}, 'where': ['x', 'is', 'served']}, 'is', 'lettuce'], True),
        ([{'since': {'served': 'lettuce 1'}}, 'at most', '5 s'], True),
        ([{'total': {'x': 'food'}, 'of': {'doneness': 'x'}}, 'equals', 0], True),
        ([{'allergens': 'milk 1'}, 'has', 'milk'], True),
        ([{'level': 'stove 1'}, 'is', 'low'], True),
        ([{'level': 'stove 1'}, 'one of', ['medium', 'high']], False),
        (['lettuce 1', 'within', 'plate 1'], True),
        (['lettuce 1', 'within', 'counter 1'], True),
        (['now', 'equals', '8 s'], True),
        ({'if': ['milk 1', 'is', 'served'], 'then': ['milk 1', 'is', 'sliced']}, True),
        ([{'lid': 'pan 1'}, 'is not', 'food'], False),  # an atom about nothing is false
        ({'not': [{'lid': 'pan 1'}, 'is', 'food']}, True),
    ],
)
def test_a_goal_is_a_condition_about_the_last_state(
    kitchen: Domain, goal: Any, reached: bool | str
) -> None:
    plan = '[GRAB] <lettuce> (1)\n[SERVE] <lettuce> (1) <plate> (1)'
    if isinstance(reached, str):
        with pytest.raises(BadSetting, match=f"unknown object of the task '{reached}'"):
            goal_reached(kitchen, goal, plan)
    else:
        assert goal_reached(kitchen, goal, plan) is reached


# ---- the agenda


def random_plan(kitchen: Domain, rng: np.random.Generator, length: int) -> list[str]:
    names = [f'<{name}> ({id_})' for name, id_ in salad(kitchen).objects if name != 'cook']
    lines = []
    for _ in range(length):
        if rng.random() < 0.4:  # else the hands are full after a few steps
            item = f'<{rng.choice(["chicken", "lettuce", "milk", "knife", "pan", "board"])}> (1)'
            target = rng.choice(
                ['ON] {} <board>', 'ON] {} <stove>', 'IN] {} <pan>', 'IN] {} <bowl>']
            )
            lines += [f'[GRAB] {item}', f'[PUT_{target.format(item)} (1)']
            continue
        name = str(rng.choice(list(kitchen.actions)))
        words = []
        for role in kitchen.actions[name].roles:
            if role.kind == 'value':
                word = '150C' if role.dimension == 'temperature' else f'{rng.integers(1, 900)}_s'
                words.append(f'<{word}>')
            elif role.kind == 'object':
                words.append(str(rng.choice(names)))
            elif role.kind == 'new':
                words.append(f'<mixture> ({rng.integers(1, 9)})')
        lines.append(f'[{name}] {" ".join(words)}')
    return lines


def test_looking_only_where_something_changed_finds_what_looking_everywhere_does(
    tmp_path: Path,
) -> None:
    lazy, thorough = load(tmp_path), looked_at_everywhere(load(tmp_path))
    start, again = salad(lazy).start, salad(thorough).start
    carried_out = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        a, b = Run(lazy, start), EverythingAgain(thorough, again)
        for line in random_plan(lazy, rng, 60):
            results = a.step(line), b.step(line)
            assert results[0] == results[1]
            carried_out += results[0].done
        assert a.finish() == b.finish()
        for part in ('bits', 'parent', 'relation', 'children', 'now_s', 'named'):
            assert getattr(a.state, part) == getattr(b.state, part)
        assert [v for v in a.state.values if v == v] == [v for v in b.state.values if v == v]
    assert carried_out > 1000  # else it would say little


def test_the_same_plan_gets_the_same_verdict_and_leaves_the_world_as_it_was(
    kitchen: Domain,
) -> None:
    world = salad(kitchen)
    before = (world.start.bits.copy(), world.start.parent.copy(), world.start.children.copy())
    rng = np.random.default_rng(5)
    plan = '\n'.join(random_plan(kitchen, rng, 80))
    assert world.judge(plan) == world.judge(plan)
    assert (world.start.bits, world.start.parent, world.start.children) == before


def test_a_state_that_is_copied_goes_its_own_way(kitchen: Domain) -> None:
    run = done(salad(kitchen), '[GRAB] <pan> (1)')
    other = run.state.copy()
    run.step('[PUT_ON] <pan> (1) <stove> (1)')
    assert other.parent[other.named['pan', '1']] == st.AGENT


def test_reactions_that_never_come_to_rest_are_named(tmp_path: Path) -> None:
    text = KITCHEN.replace(
        'processes:',
        '  flicker: {for: {x: heater}, do: [{if: [x, is, served], '
        'then: [[x, becomes not, served]], else: [[x, becomes, served]]}]}\nprocesses:',
    )
    domain = load(tmp_path, text)
    with pytest.raises(BadSetting, match='the reactions flicker never come to rest'):
        salad(domain)


def test_objects_of_a_scene_can_be_placed_and_changed(kitchen: Domain) -> None:
    objects = [{'class': 'knife', 'id': 2, 'at': ['in', 'fridge'], 'has': {'temperature': '5 C'}}]
    world = salad(kitchen, objects=objects)
    run = world.begin()
    item = run.state.named['knife', '2']
    assert run.state.labels[run.state.parent[item]] == 'fridge (1)'
    assert run.state.values[
        item * kitchen.words.width + kitchen.words.states['temperature'].column
    ] == pytest.approx(278.15)


def test_a_class_whose_place_is_missing_is_a_mistake_of_the_task(kitchen: Domain) -> None:
    with pytest.raises(BadSetting, match=r'objects\[0\]: pan \(1\) is at first on counter, which'):
        salad(kitchen, objects=['pan'], without=['counter'])
    document = SceneDocument.model_validate(
        {'objects': [{'class': 'pan', 'at': 'nowhere'}], 'without': ['counter']}
    )
    assert World(kitchen, document, kitchen.files.place('scenes', 'salad')).objects
