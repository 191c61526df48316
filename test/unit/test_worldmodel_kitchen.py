"""The kitchen: what it covers, what heat and time do in it, and what its documentation says."""

import importlib.util
import json
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
import release_names
from small_worlds import EverythingAgain, looked_at_everywhere

from alpha_chaos.worldmodel.documents import SceneDocument
from alpha_chaos.worldmodel.domain import load_domain
from alpha_chaos.worldmodel.interactions import count_interactions
from alpha_chaos.worldmodel.parts import Domain
from alpha_chaos.worldmodel.plan_text import read_plan
from alpha_chaos.worldmodel.run import Run
from alpha_chaos.worldmodel.world import World, scene_world

ROOT = Path(__file__).resolve().parents[2]
PUBLIC = ROOT.parent / 'shared' / 'data' / 'simmer' / 'world_model'
DOCS = ROOT / 'docs' / 'kitchen.md'
# What the project asks of its kitchen.
FAMILIES = {
    'cross_contamination', 'unwashed', 'undercooked', 'overcooked', 'burned', 'cold_chain',
    'refreezing', 'allergens', 'left_on', 'hot_surface', 'sharp', 'wrong_vessel', 'broken_glass',
    'spills', 'seasoning', 'waste',
}  # fmt: skip


@cache
def kitchen() -> Domain:
    return load_domain('kitchen')


def begin(*objects: object) -> Run:
    scene = SceneDocument.model_validate({'objects': objects})
    return World(kitchen(), scene, kitchen().files.place('agent', '')).begin()


def done(run: Run, *steps: str) -> None:
    for step in steps:
        result = run.step(step)
        assert result.done, result.failures


def number(run: Run, state: str, name: str, id_: str = '1') -> float:
    word = kitchen().words.states[state]
    item = run.state.named[name, id_]
    value: float = run.state.values[item * kitchen().words.width + word.column]
    return value


def celsius(run: Run, name: str) -> float:
    return number(run, 'temperature', name) - 273.15


def flags(run: Run, name: str, id_: str = '1') -> set[str]:
    bits = run.state.bits[run.state.named[name, id_]]
    return {word.name for word in kitchen().words.states.values() if bits & word.mask}


# ---- coverage


def test_every_action_and_class_of_the_public_release_is_there_and_more() -> None:
    assert len(release_names.ACTIONS) == 77
    assert len(release_names.CLASSES) == 262
    assert set(release_names.ACTIONS) <= set(kitchen().actions)
    assert set(release_names.CLASSES) <= set(kitchen().rows)


@pytest.mark.skipif(not PUBLIC.is_dir(), reason='the public data is not beside the project')
def test_the_list_of_the_releases_names_is_the_releases() -> None:
    actions = json.loads((PUBLIC / 'action_list.json').read_text(encoding='utf-8'))
    classes = json.loads((PUBLIC / 'object_def.json').read_text(encoding='utf-8'))
    assert sorted(actions) == release_names.ACTIONS
    assert sorted(classes) == release_names.CLASSES


@pytest.mark.skipif(not PUBLIC.is_dir(), reason='the public data is not beside the project')
def test_what_the_release_takes_as_arguments_comes_first_and_in_its_order() -> None:
    defined = json.loads((PUBLIC / 'action_def.json').read_text(encoding='utf-8'))
    for name, entry in defined.items():
        theirs = [role.rstrip('?') for role in entry['definition']['args']]
        ours = [role.name for role in kitchen().actions[name].roles]
        assert len(ours) >= len(theirs)
        assert all(role.optional for role in kitchen().actions[name].roles[len(theirs) :])
        kinds = [role.kind for role in kitchen().actions[name].roles[: len(theirs)]]
        values = [role in ('duration', 'temperature') for role in theirs]
        assert [kind == 'value' for kind in kinds] == values


def test_every_family_has_rules_and_there_are_more_than_thirty() -> None:
    families = Counter(audit.family for audit in kitchen().audits.values())
    assert set(families) == FAMILIES
    assert sum(families.values()) >= 30


# ---- interactions


def test_interactions_are_counted_by_hand_too() -> None:
    counted = count_interactions(kitchen())
    rows, words = kitchen().rows, kitchen().words

    def having(*names: str) -> list[str]:
        mask = sum(words.bit(name) for name in names)
        return [name for name, (bits, _, _) in rows.items() if bits & mask == mask]

    assert counted['wait'] == 1
    assert counted['wash_hands'] == 1  # there is one tap
    assert counted['cut'] == len(having('cuttable')) * len(having('surface'))
    assert counted['mix'] == len(having('vessel'))  # by hand: the tool is optional
    assert counted['stir'] == len(having('vessel')) * len(having('utensil'))
    over = set(having('vessel')) | set(having('food'))  # a need that looks at properties only
    assert counted['sprinkle'] == len(having('food')) * len(over)
    assert count_interactions(kitchen(), 1)['put_in'] == len(having('grabbable'))


# ---- heat and time


def test_a_chicken_breast_is_safe_after_a_quarter_of_an_hour_in_a_hot_pan() -> None:
    run = begin({'class': 'pan', 'at': ['on', 'stove']},
                {'class': 'chicken_breast', 'at': ['in', 'pan']})  # fmt: skip
    done(run, '[SWITCH_ON] <stove> (1)', '[WAIT] <10_minutes>')
    assert celsius(run, 'chicken_breast') < 74  # USDA: the safe minimum for poultry
    assert 'raw' in flags(run, 'chicken_breast')
    done(run, '[WAIT] <10_minutes>')
    assert celsius(run, 'chicken_breast') > 74
    assert {'cooked'} <= flags(run, 'chicken_breast')
    assert not {'raw', 'burned'} & flags(run, 'chicken_breast')
    done(run, '[WAIT] <20_minutes>')
    assert celsius(run, 'chicken_breast') < 100  # it is wet
    assert 'burned' in flags(run, 'chicken_breast')


@pytest.mark.parametrize(
    ('food', 'safe'),  # USDA: safe minimum internal temperatures
    [('chicken_breast', 74), ('pheasant', 74), ('ground_chicken', 74), ('ground_beef', 71),
     ('ground_pork', 71), ('sausage', 71), ('egg', 71), ('fish', 63), ('shrimp', 63),
     ('beef', 63), ('gammon', 63)],
)  # fmt: skip
def test_protein_is_done_at_the_safe_minimum(food: str, safe: float) -> None:
    run = begin({'class': food, 'at': ['on', 'counter']})
    assert number(run, 'done_at', food) - 273.15 == pytest.approx(safe)
    assert 'raw' in flags(run, food)


def test_water_boils_in_about_eight_minutes_and_never_gets_hotter() -> None:
    run = begin({'class': 'pot', 'at': ['on', 'stove']})
    done(run, '[SWITCH_ON] <water> (1)', '[FILL] <pot> (1) <water> (1)',
         '[SWITCH_OFF] <water> (1)', '[SWITCH_ON] <stove> (1)', '[WAIT] <4_minutes>')  # fmt: skip
    assert 'boiling' not in flags(run, 'pot')
    done(run, '[WAIT] <6_minutes>')
    assert 'boiling' in flags(run, 'pot')
    done(run, '[WAIT] <1_hour>')
    assert celsius(run, 'pot') == pytest.approx(100, abs=0.1)


def test_cold_water_cools_the_hot_pot_it_is_poured_into() -> None:
    run = begin({'class': 'pot', 'at': ['on', 'stove']})
    done(run, '[SWITCH_ON] <stove> (1)', '[WAIT] <1_minute>', '[SWITCH_OFF] <stove> (1)')
    assert celsius(run, 'pot') > 60
    done(run, '[SWITCH_ON] <water> (1)', '[FILL] <pot> (1) <water> (1)')
    # Six portions of water at 15 °C outweigh the pot, which counts as one; the plate is still hot.
    assert 15 < celsius(run, 'pot') < 60


def test_hot_food_lifted_with_a_tool_burns_nobody() -> None:
    def lifted(*steps: str) -> list[str]:
        run = begin({'class': 'pot', 'has': {'temperature': '95 C'}, 'at': ['on', 'counter']},
                    {'class': 'egg', 'has': {'temperature': '95 C'}, 'at': ['in', 'pot']},
                    {'class': 'tongs', 'at': ['on', 'counter']})  # fmt: skip
        return [failure.rule for step in steps for failure in run.step(step).failures]

    assert lifted('[GRAB] <tongs> (1)', '[TAKE_OUT] <egg> (1) <pot> (1) <tongs> (1)') == []
    assert lifted('[TAKE_OUT] <egg> (1) <pot> (1)') == ['hot_thing_grabbed']


def test_bacon_is_fried_in_its_own_fat_and_nothing_else_is() -> None:
    def fried(food: str) -> list[str]:
        run = begin({'class': 'pan', 'at': ['on', 'stove']}, {'class': food, 'at': ['in', 'pan']})
        done(run, '[SWITCH_ON] <stove> (1)')
        failures = run.step(f'[FRY] <{food}> (1) <pan> (1) <stove> (1) <5_minutes>').failures
        return [failure.rule for failure in failures]

    assert fried('bacon') == []
    assert fried('chicken_breast') == ['fry: there is no fat in it']


def test_eggs_need_not_be_washed_and_take_12_minutes_in_boiling_water() -> None:
    # USDA FSIS: eggs are washed before they are sold, and not again at home.
    run = begin({'class': 'pot', 'at': ['on', 'stove']}, {'class': 'egg', 'at': ['in', 'pot']})
    done(run, '[SWITCH_ON] <water> (1)', '[FILL] <pot> (1) <water> (1)',
         '[SWITCH_OFF] <water> (1)', '[SWITCH_ON] <stove> (1)', '[WAIT] <8_minutes>',
         '[BOIL] <egg> (1) <pot> (1) <stove> (1) <12_minutes>', '[SWITCH_OFF] <stove> (1)',
         '[DRAIN] <egg> (1) <pot> (1)')  # fmt: skip
    assert {'cooked', 'boiled'} <= flags(run, 'egg')
    assert 'dirty' not in flags(run, 'egg')
    assert number(run, 'doneness', 'egg') < number(run, 'overdone_at', 'egg')


def test_frozen_fish_thaws_over_night_in_the_fridge_and_in_hours_on_the_counter() -> None:
    frozen = {'class': 'fish', 'is': ['frozen'], 'has': {'temperature': '-18 C'}}
    cold = begin({**frozen, 'at': ['in', 'fridge']})
    done(cold, '[WAIT] <2_hours>')
    assert 'frozen' in flags(cold, 'fish')
    done(cold, '[WAIT] <10_hours>')
    assert 'thawed' in flags(cold, 'fish')
    assert 'thawed_in_air' not in flags(cold, 'fish')
    warm = begin({**frozen, 'at': ['on', 'counter']})
    done(warm, '[WAIT] <3_hours>')
    assert {'thawed', 'thawed_in_air'} <= flags(warm, 'fish')


def test_milk_is_exposed_only_while_it_is_between_5_and_60_degrees() -> None:
    run = begin({'class': 'milk', 'at': ['on', 'counter']})
    done(run, '[WAIT] <2_hours>')
    assert 6600 < number(run, 'exposure', 'milk') < 7200  # it was at 4 °C first
    inside = begin('milk')
    done(inside, '[WAIT] <2_hours>')
    assert number(inside, 'exposure', 'milk') == 0


def test_germs_go_from_raw_meat_over_board_and_blade_and_die_of_heat() -> None:
    run = begin(
        {'class': 'chicken_breast', 'at': ['on', 'cutting_board']},
        {'class': 'knife', 'at': ['on', 'counter']},
        {'class': 'carrot', 'not': ['dirty'], 'at': ['on', 'cutting_board 2']},
        {'class': 'cutting_board', 'id': 2},
        {'class': 'pan', 'at': ['on', 'stove']},
    )

    def germs(name: str) -> set[str]:
        word = kitchen().words.states['germs']
        item = run.state.named[name, '1']
        elements = run.state.values[item * kitchen().words.width + word.column]
        return {run.state.labels[element] for element in elements}

    done(run, '[GRAB] <knife> (1)', '[CHOP] <chicken_breast> (1) <cutting_board> (1) <knife> (1)')
    assert germs('knife') == {'chicken_breast (1)'}
    done(run, '[CHOP] <carrot> (1) <cutting_board> (2) <knife> (1)')
    assert germs('carrot') == {'chicken_breast (1)'}
    done(run, '[PUT_ON] <knife> (1) <counter> (1)', '[GRAB] <carrot> (1)',
         '[PUT_IN] <carrot> (1) <pan> (1)', '[SWITCH_ON] <stove> (1)',
         '[WAIT] <15_minutes>')  # fmt: skip
    assert germs('carrot') == set()
    assert germs('knife') == {'chicken_breast (1)'}


def test_rules_about_flags_are_looked_at_when_they_have_to_be() -> None:
    thorough = looked_at_everywhere(load_domain('kitchen'))
    for name, audit in kitchen().audits.items():
        lazily = scene_world(kitchen(), name).judge(audit.test.plan)
        run = EverythingAgain(thorough, scene_world(thorough, name).start)
        for step in read_plan(audit.test.plan).steps:
            run.step(step)
        assert run.finish() == lazily


@pytest.mark.parametrize(
    ('step', 'name', 'gained', 'lost'),
    [
        ('[AIR_DRY] <plate> (1) <1_hour>', 'plate', set(), {'wet'}),
        ('[MIX] <bowl> (1)', 'dough', {'mixed'}, set()),
        ('[INDENT] <dough> (1)', 'dough', {'indented'}, set()),
        ('[GRAB] <spoon> (1)\n[BEAT] <bowl> (1) <spoon> (1)', 'dough', {'beaten'}, set()),
        ('[GRAB] <spoon> (1)\n[PRESS] <orange> (1) <spoon> (1) <cup> (1)', 'fruit_juice',
         {'dirty'}, set()),
        ('[GRAB] <oil> (1)\n[SPRAY] <oil> (1) <plate> (1)', 'plate', {'coated'}, set()),
        ('[GRAB] <paper_towel> (1)\n[WIPE] <counter> (1) <paper_towel> (1)', 'counter', set(),
         {'spilled'}),
        ('[GRAB] <sanitizer> (1)\n[SANITIZE] <counter> (1) <sanitizer> (1)', 'counter', set(),
         {'dirty'}),
        ('[GRAB] <paper_towel> (1)\n[SWEEP_UP] <glass> (1) <paper_towel> (1)', 'counter', set(),
         {'shards'}),
        ('[SWITCH_ON] <stove> (1)\n[SET_TIMER] <stove> (1) <5_minutes>', 'stove', {'on'}, set()),
    ],
)  # fmt: skip
def test_what_no_plan_of_the_world_does_works_too(
    step: str, name: str, gained: set[str], lost: set[str]
) -> None:
    there = {'at': ['on', 'counter']}
    run = begin(
        {'class': 'counter', 'is': ['spilled', 'dirty', 'shards']},
        {'class': 'plate', 'is': ['wet'], **there},
        {'class': 'glass', 'is': ['broken'], **there},
        {'class': 'dough', 'at': ['in', 'bowl']},
        *({'class': other, **there} for other in (
            'bowl', 'spoon', 'orange', 'cup', 'oil', 'paper_towel', 'sanitizer')),
    )  # fmt: skip
    before = flags(run, name) if (name, '1') in run.state.named else set()
    assert lost <= before
    done(run, *step.split('\n'))
    assert gained <= flags(run, name) - before
    assert not lost & flags(run, name)


# ---- portions and products


def test_what_is_poured_is_a_portion_and_the_packet_holds_less() -> None:
    run = begin({'class': 'bowl', 'at': ['on', 'counter']},
                {'class': 'flour', 'at': ['on', 'counter']})  # fmt: skip
    done(run, '[GRAB] <flour> (1)', '[POUR] <flour> (1) <bowl> (1) <3_portions>')
    assert number(run, 'amount', 'flour', '1') == 17
    assert number(run, 'amount', 'flour', '2') == 3
    assert 'stock' not in flags(run, 'flour', '2')
    result = run.step('[POUR] <flour> (1) <bowl> (1) <20_portions>')
    assert [failure.rule for failure in result.failures] == ['pour: there is not that much left']


def test_a_product_has_the_germs_and_the_mean_temperature_of_its_parts() -> None:
    run = begin(
        {'class': 'bowl', 'at': ['on', 'counter']},
        {'class': 'egg', 'is': ['broken'], 'at': ['in', 'bowl']},
        {'class': 'flour', 'not': ['stock'], 'has': {'amount': '2 portion'}, 'at': ['in', 'bowl']},
    )
    done(run, '[COMBINE] <bowl> (1) <batter> (1)')
    assert celsius(run, 'batter') == pytest.approx((4 + 21) / 2, abs=1)
    assert number(run, 'amount', 'batter') == 3
    assert {'raw', 'needs_cooking'} <= flags(run, 'batter')


@pytest.mark.parametrize(
    ('plan', 'needed'),
    [
        ('[GRAB] <milk> (1)', 'within_reach'),  # behind the closed door of the fridge
        ('[WALK] <fridge> (1)\n[GRAB] <milk> (1)', 'within_reach'),  # still closed
        ('[WASH] <bowl> (1) <water> (1)', 'held_by'),
        ('[GRAB] <bowl> (1)\n[WASH] <bowl> (1) <water> (1)', 'water (1) is on'),
        ('[GRAB] <bowl> (1)\n[GRAB] <plate> (1)', 'hands are not empty'),
        ('[SET_TEMP] <stove> (1) <180C>', 'is on'),
        ('[SWITCH_ON] <stove> (1)\n[SET_TEMP] <stove> (1) <900C>', '300'),
        ('[BOIL] <pot> (1) <stove> (1)', 'the vessel is not there'),
    ],
)
def test_what_a_cook_cannot_do_fails_at_its_step(plan: str, needed: str) -> None:
    there = ['on', 'counter']
    run = begin('milk', *({'class': name, 'at': there} for name in ('bowl', 'plate', 'pot')))
    *before, last = plan.split('\n')
    done(run, *before)
    assert needed in run.step(last).failures[0].message


# ---- documentation


def test_the_page_of_rules_and_actions_is_what_the_files_say() -> None:
    path = ROOT / 'scripts' / 'kitchen_reference.py'
    spec = importlib.util.spec_from_file_location('kitchen_reference', path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    written = module.PAGE.read_text('utf-8').splitlines()
    assert written == module.page().splitlines(), 'make reference'
    assert sum(line.startswith('| `') for line in written) == len(kitchen().audits) + len(
        kitchen().actions
    )


def test_every_family_of_rules_is_explained() -> None:
    explained = re.findall(r'^\| (`.+`) \|', DOCS.read_text('utf-8'), re.MULTILINE)
    assert {name for row in explained for name in re.findall(r'`(\w+)`', row)} >= FAMILIES
