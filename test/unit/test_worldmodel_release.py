"""Verdicts as the public release gives them; every expected value worked out by hand."""

import json
from pathlib import Path

import pytest
from release_data import little_release, write_release

from alpha_chaos.plugins import BadSetting
from alpha_chaos.worldmodel.release.data import load_release
from alpha_chaos.worldmodel.release.judge import ReleaseWorld
from alpha_chaos.worldmodel.verdict import Verdict

PUBLIC = Path(__file__).resolve().parents[3] / 'shared' / 'data' / 'simmer'

Found = list[tuple[int, str, str]]


@pytest.fixture(scope='module')
def world(tmp_path_factory: pytest.TempPathFactory) -> ReleaseWorld:
    release = little_release(tmp_path_factory.mktemp('release'))
    return ReleaseWorld(release, release.tasks['000'])


@pytest.fixture(scope='module')
def strict(tmp_path_factory: pytest.TempPathFactory) -> ReleaseWorld:
    release = little_release(tmp_path_factory.mktemp('release'))
    return ReleaseWorld(release, release.tasks['000'], strict=True)


def found(verdict: Verdict) -> Found:
    return [(failure.step, failure.kind, failure.message) for failure in verdict.failures]


PEAR = (0, 'latent', 'raw pear is not washed')  # it lies on the counter from the start


CASES: list[tuple[str, str, Found]] = [
    ('what lies unwashed on the counter counts though nobody touched it', '', [PEAR]),
    (
        'what is in storage does not count, until it is taken out',
        '[TAKE_OUT] <apple> (1) <fridge> (1)',
        [
            (1, 'immediate', 'missing: open container'),
            (0, 'latent', 'raw apple is not washed'),
            PEAR,
        ],
    ),
    (
        'grabbing leaves a thing where it was, so it still counts as stored',
        '[GRAB] <apple> (1)',
        [PEAR],
    ),
    (
        'a step has its effect although something is missing',
        '[PUT_ON] <stove> (1) <counter> (1)\n[FRY] <pear> (1) <pan> (1) <stove> (1)',
        [
            (1, 'immediate', 'missing: object in hand'),
            (2, 'immediate', 'missing: receptacle on heat source'),
            (2, 'immediate', 'missing: heat source switched on'),
            (2, 'immediate', 'missing: oil in receptacle'),
            (2, 'immediate', 'missing: object in receptacle'),
            (0, 'latent', 'pear is not washed'),  # no longer raw, and no protein
        ],
    ),
    (
        'what is missing again is named once, at its first step',
        '[GRAB] <pan> (1)\n[GRAB] <bowl> (1)\n[GRAB] <plate> (1)',
        [(2, 'immediate', 'missing: free hands'), PEAR],
    ),
    (
        'hands carry from raw meat to the next thing; the meat itself does not count',
        '[GRAB] <chicken> (1)\n[PUT_ON] <chicken> (1) <counter> (1)\n[GRAB] <lettuce> (1)\n'
        '[PUT_ON] <lettuce> (1) <plate> (1)',
        [PEAR, (0, 'latent', 'lettuce is contaminated by raw chicken')],
    ),
    (
        'a raw egg carries nothing',
        '[GRAB] <egg> (1)\n[PUT_ON] <egg> (1) <plate> (1)\n[GRAB] <lettuce> (1)\n'
        '[PUT_ON] <lettuce> (1) <plate> (1)',
        [PEAR, (0, 'latent', 'raw egg is not washed')],
    ),
    (
        'a board carries from raw meat to what is cut on it; a new product carries nothing',
        '[GRAB] <chicken> (1)\n[PUT_ON] <chicken> (1) <cutting_board> (1)\n[SWITCH_ON] <water> (1)'
        '\n[GRAB] <pear> (1)\n[WASH] <pear> (1) <water> (1)\n[SWITCH_OFF] <water> (1)\n'
        '[PUT_ON] <pear> (1) <plate> (1)\n[GRAB] <knife> (1)\n'
        '[SLICE] <chicken> (1) <cutting_board> (1) <knife> (1)\n[PUT_ON] <knife> (1) <counter> (1)'
        '\n[GRAB] <lettuce> (1)\n[PUT_ON] <lettuce> (1) <cutting_board> (1)\n[GRAB] <knife> (1)\n'
        '[SLICE] <lettuce> (1) <cutting_board> (1) <knife> (1)',
        [(0, 'latent', 'lettuce is contaminated by raw chicken')],
    ),
    (
        'a clean board cannot be washed',
        '[GRAB] <cutting_board> (1)\n[WASH] <cutting_board> (1) <water> (1)',
        [
            (2, 'immediate', 'missing: dirty object'),
            (2, 'immediate', 'missing: running water'),
            PEAR,
        ],
    ),
    (
        'heat cleans a vessel and all that is in it, and cooks it',
        '[GRAB] <chicken> (1)\n[PUT_IN] <chicken> (1) <pan> (1)\n[GRAB] <lettuce> (1)\n'
        '[PUT_IN] <lettuce> (1) <pan> (1)\n[GRAB] <pan> (1)\n[PUT_ON] <pan> (1) <stove> (1)\n'
        '[SWITCH_ON] <stove> (1)\n[HEAT] <pan> (1) <stove> (1)\n[SWITCH_OFF] <stove> (1)',
        [PEAR],
    ),
    (
        'stove and water left on can be undone',
        '[SWITCH_ON] <stove> (1)\n[SWITCH_ON] <water> (1)',
        [
            PEAR,
            (0, 'latent', 'stove is left on'),
            (0, 'latent', 'water is left on'),
        ],
    ),
    (
        'a product takes over dirt and contamination; a cooked protein passes no dirt on',
        '[GRAB] <pear> (1)\n[PUT_IN] <pear> (1) <bowl> (1)\n[COMBINE] <bowl> (1) <salad> (1)',
        [PEAR, (0, 'latent', 'raw salad is not washed')],
    ),
    (
        'pieces come to be where the whole is, and are named after it',
        '[CUT] <lettuce> (1) <cutting_board> (1) <knife> (1)\n[SERVE] <lettuce_pieces> (1) '
        '<plate> (1)\n[SERVE] <lettuce_pieces> (2) <plate> (1)',
        [
            (1, 'immediate', 'missing: tool in hand'),
            (1, 'immediate', 'missing: object on cutting board'),
            (3, 'syntax', 'there is no lettuce_pieces_2, which is the object'),
            (3, 'immediate', 'missing: object fit to be served'),
            PEAR,
        ],
    ),
    (
        'the same object cannot be in two roles',
        '[PUT_ON] <pear> (1) <pear> (1)',
        [
            (1, 'syntax', 'pear_1 is object and target at once'),
            (1, 'immediate', 'missing: object in hand'),
            PEAR,
        ],
    ),
    (
        'a wrong count of arguments keeps a step from being carried out',
        '[SWITCH_ON] <stove> (1) <stove> (1)\n[GRAB]\n[JUGGLE] <pear> (1)',
        [
            (1, 'syntax', 'switch_on has 2 arguments, at most 1 are right'),
            (2, 'syntax', 'grab has 0 arguments, at least 1 are right'),
            (3, 'immediate', 'juggle is no action'),
            PEAR,
        ],
    ),
    (
        'a name without a number is the object of exactly that name',
        '[GRAB] <pan_1>\n[PUT_ON] <pan_1> <stove_1>\n[WALK] <stove>',
        [(3, 'syntax', 'there is no stove, which is the location'), PEAR],
    ),
    (
        'what is thrown away is in the bin, and clean',
        '[GRAB] <pear> (1)\n[DISCARD] <pear> (1) <trash_bin> (1)',
        [],
    ),
    (
        'an action without rules in this program is none',
        '[WALK] <counter> (1)\n[WAIT] <5_minutes>\n[OPEN] <fridge> (1)',
        [PEAR],
    ),
]


@pytest.mark.parametrize(
    ('plan', 'expected'), [case[1:] for case in CASES], ids=[c[0] for c in CASES]
)
def test_a_plan_gets_the_verdict_of_the_release(
    world: ReleaseWorld, plan: str, expected: Found
) -> None:
    verdict = world.judge(plan)
    assert found(verdict) == expected
    assert verdict.goal_reached is None
    assert verdict.clean == (not expected)
    assert verdict.immediate == sum(kind != 'latent' for _, kind, _ in expected)
    assert verdict.latent == sum(kind == 'latent' for _, kind, _ in expected)


def test_food_that_is_spoilt_cannot_be_undone_and_what_is_left_on_can(world: ReleaseWorld) -> None:
    verdict = world.judge('[SWITCH_ON] <stove> (1)')
    assert {(f.rule, f.reversible) for f in verdict.failures} == {
        ('unwashed', False),
        ('appliance_left_on', True),
    }
    assert verdict.irreversible == 1


def test_a_product_can_hide_an_object_of_the_task(world: ReleaseWorld) -> None:
    # The last look around sees the product of that name, and no longer the pear on the counter.
    plan = (
        '[GRAB] <lettuce> (1)\n[PUT_IN] <lettuce> (1) <bowl> (1)\n[COMBINE] <bowl> (1) <pear> (1)'
    )
    assert found(world.judge(plan)) == []


def test_strict_holds_nothing_against_an_empty_plan_but_that_it_serves_nothing(
    strict: ReleaseWorld,
) -> None:
    verdict = strict.judge('')
    assert found(verdict) == []
    assert verdict.goal_reached is False
    assert not verdict.clean


def test_strict_gives_a_wrong_step_no_effect(strict: ReleaseWorld) -> None:
    verdict = strict.judge('[FRY] <pear> (1) <pan> (1) <stove> (1)\n[SWITCH_ON] <dragon> (1)')
    assert all(failure.kind != 'latent' for failure in verdict.failures)


def test_strict_lets_a_contaminated_board_be_washed(strict: ReleaseWorld) -> None:
    plan = (
        '[GRAB] <chicken> (1)\n[PUT_ON] <chicken> (1) <cutting_board> (1)\n'
        '[GRAB] <knife> (1)\n[SLICE] <chicken> (1) <cutting_board> (1) <knife> (1)\n'
        '[PUT_ON] <knife> (1) <counter> (1)\n[SWITCH_ON] <water> (1)\n'
        '[GRAB] <cutting_board> (1)\n{wash}[PUT_ON] <cutting_board> (1) <stove> (1)\n'
        '[SWITCH_OFF] <water> (1)\n[GRAB] <lettuce> (1)\n'
        '[PUT_ON] <lettuce> (1) <cutting_board> (1)\n[SERVE] <lettuce> (1) <plate> (1)'
    )
    washed = strict.judge(plan.format(wash='[WASH] <cutting_board> (1) <water> (1)\n'))
    assert found(washed) == []
    assert washed.clean
    assert [f.rule for f in strict.judge(plan.format(wash='')).failures] == ['contaminated']


@pytest.mark.parametrize(
    ('path', 'text', 'complaint'),
    [
        ('world_model/action_def.json', '{', 'is no JSON'),
        ('world_model/action_def.json', '{"grab": {}}', 'grab.definition: Field required'),
        ('benchmark/tasks/000/env_000.json', '[]', 'Input should be'),
        (
            'benchmark/tasks/000/env_000.json',
            '{"initial_objects": [{"id": 1}]}',
            'initial_objects.0.class_name: Field required',
        ),
        ('benchmark/tasks/000/env_000.json', None, 'cannot be read'),
        ('benchmark/tasks/000/task_000.txt', 'Fry', "has no line 'Task: ...'"),
    ],
)
def test_a_mistake_in_the_files_is_named(
    tmp_path: Path, path: str, text: str | None, complaint: str
) -> None:
    folder = write_release(tmp_path)
    if text is None:
        (folder / path).unlink()
    else:
        (folder / path).write_text(text)
    with pytest.raises(BadSetting) as raised:
        load_release(folder)
    assert str(folder / path) in str(raised.value)
    assert complaint in str(raised.value)


def test_a_folder_that_is_not_the_release_says_what_it_lacks(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match=r'has no world_model/action_def\.json'):
        load_release(tmp_path)


def test_the_title_of_a_task_is_read_and_its_recipe_is_not(tmp_path: Path) -> None:
    assert little_release(tmp_path).tasks['000'].title == 'Fry a chicken'


# ---- the public files; not part of this repository


@pytest.mark.skipif(not PUBLIC.is_dir(), reason='the data of the public release is not there')
def test_the_empty_plan_has_no_error_on_82_of_the_100_public_tasks() -> None:
    release = load_release(PUBLIC)
    verdicts = {
        name: ReleaseWorld(release, task).judge('') for name, task in release.tasks.items()
    }
    assert len(verdicts) == 100
    assert sum(verdict.clean for verdict in verdicts.values()) == 82
    wrong = [failure for verdict in verdicts.values() for failure in verdict.failures]
    assert {(failure.rule, failure.step) for failure in wrong} == {('unwashed', 0)}
    for name, verdict in verdicts.items():
        objects = release.tasks[name].environment.initial_objects
        dirty = {
            entry.class_name
            for entry in objects
            if entry.location == 'counter' and 'dirty' in entry.states
        }
        named = {failure.message.split(' is ')[0].split()[-1] for failure in verdict.failures}
        assert named == dirty & named
        assert verdict.clean or named


@pytest.mark.skipif(not PUBLIC.is_dir(), reason='the data of the public release is not there')
def test_the_empty_plan_is_strictly_clean_on_none_of_the_public_tasks() -> None:
    release = load_release(PUBLIC)
    for task in release.tasks.values():
        verdict = ReleaseWorld(release, task, strict=True).judge('')
        assert verdict.failures == ()
        assert not verdict.clean


@pytest.mark.skipif(not PUBLIC.is_dir(), reason='the data of the public release is not there')
def test_every_action_of_the_public_release_has_rules() -> None:
    from alpha_chaos.worldmodel.release.rules import ACTIONS

    assert set(load_release(PUBLIC).actions) == set(ACTIONS)
    assert len(ACTIONS) == 77
    names = json.loads((PUBLIC / 'world_model' / 'object_def.json').read_text())
    assert len(names) == 262
