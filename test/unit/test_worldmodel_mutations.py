"""Mutants of golden plans: each operator's contract, and what the kitchen makes of them."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from numpy.random import default_rng
from typer.testing import CliRunner

import alpha_chaos.worldmodel.mutations
from alpha_chaos import catalogues
from alpha_chaos.cli import app
from alpha_chaos.plugins import BadSetting, parse
from alpha_chaos.report.mutation_report import mutation_report
from alpha_chaos.worldmodel.domain import load_domain
from alpha_chaos.worldmodel.mutations.base import Operator
from alpha_chaos.worldmodel.mutations.golden import Golden, Mutant
from alpha_chaos.worldmodel.mutations.trial import FLAGGED, Case, Trial, cases, drawn, good_enough
from alpha_chaos.worldmodel.parts import Domain
from alpha_chaos.worldmodel.plan_text import PlanStep, read_plan, read_step
from alpha_chaos.worldmodel.world import load_tasks, task_world

# Files of the package that are no operators.
FRAME = {'__init__', 'base', 'golden', 'hands', 'trial'}
FILES = sorted(
    path.stem
    for folder in alpha_chaos.worldmodel.mutations.__path__
    for path in Path(folder).glob('*.py')
    if path.stem not in FRAME
)
SAMPLE = 4  # mutants of each operator that are judged here; `alpha-chaos simmer mutate` judges all


@pytest.fixture(scope='module')
def kitchen() -> Domain:
    return load_domain('kitchen')


@pytest.fixture(scope='module')
def mutants(kitchen: Domain) -> list[Case]:
    return list(cases(kitchen, load_tasks(kitchen).values(), catalogues.mutations()))


@pytest.fixture(scope='module')
def trials(mutants: list[Case]) -> list[Trial]:
    return [case.trial() for case in drawn(mutants, SAMPLE, default_rng(0))]


def golden(domain: Domain, task: str) -> Golden:
    (read,) = load_tasks(domain, [task]).values()
    return Golden(read, task_world(domain, read))


def step(text: str) -> PlanStep:
    found = read_step(text)
    assert found is not None
    return found


@pytest.mark.parametrize('kind', FILES)
def test_a_file_holds_the_operator_of_its_name_and_an_example(kind: str, kitchen: Domain) -> None:
    made = catalogues.mutations()[kind]
    assert kind.replace('_', '') == made.__name__.lower()
    assert isinstance(made.example, made)
    assert made.__doc__
    assert made.harmful in (True, False)
    families = {audit.family for audit in kitchen.audits.values()}
    assert made.family in families if made.family else True


@pytest.mark.parametrize('kind', FILES)
def test_a_misspelt_setting_is_refused(kind: str) -> None:
    with pytest.raises(BadSetting, match="unknown key 'waits'"):
        parse(catalogues.mutations(), {'kind': kind, 'waits': 1}, 'mutation')


def test_every_operator_finds_something_to_change_in_the_kitchen(mutants: list[Case]) -> None:
    found = Counter(case.operator.kind for case in mutants)
    assert sorted({*found, 'not_released'}) == FILES  # which is for the table-top
    assert sum(case.operator.harmful for case in mutants) > 1000
    assert sum(not case.operator.harmful for case in mutants) > 1000


def test_every_mutant_differs_from_its_golden_plan_and_says_where_and_why(
    kitchen: Domain, mutants: list[Case]
) -> None:
    tasks = load_tasks(kitchen).values()
    plans = {task.name: read_plan(task.document.golden).steps for task in tasks}
    for case in mutants:
        steps = plans[case.task]
        assert case.mutant.steps != steps
        assert 1 <= case.mutant.at <= len(steps)
        assert case.mutant.note


def test_the_kitchen_flags_harmful_mutants_and_no_harmless_one(trials: list[Trial]) -> None:
    harmful = [trial for trial in trials if trial.operator.harmful]
    flagged = sum(not trial.verdict.clean for trial in harmful)
    assert flagged >= FLAGGED * len(harmful)
    alarms = [
        (trial.task, trial.mutant.note, [failure.message for failure in trial.verdict.failures])
        for trial in trials
        if not trial.operator.harmful and not trial.verdict.clean
    ]
    assert alarms == []
    assert good_enough(trials)


def test_most_harm_is_seen_by_a_rule_that_is_about_it(trials: list[Trial]) -> None:
    about = [trial for trial in trials if trial.operator.harmful and trial.operator.family]
    assert sum(trial.by_family for trial in about) >= 0.9 * len(about)


def test_the_same_draw_gives_the_same_mutants(mutants: list[Case]) -> None:
    first = drawn(mutants, 3, default_rng(5))
    assert first == drawn(mutants, 3, default_rng(5))
    assert first != drawn(mutants, 3, default_rng(6))
    assert max(Counter(case.operator.kind for case in first).values()) == 3


# Read off the plans by hand.
NOTES = [
    (
        'unwashed_produce',
        'green_salad',
        ['lettuce 1 is eaten unwashed', 'cucumber 1 is eaten unwashed'],
    ),
    (
        'same_tool',
        'steak_salad',
        [
            'cutting_board 2 cuts raw meat and then lettuce 1',
            'knife 2 cuts raw meat and then lettuce 1',
        ],
    ),
    ('same_tool', 'beef_avocado', []),  # it has one board and one knife
    (
        'unwashed_tool',
        'beef_avocado',
        [
            'knife 1 goes from raw meat to avocado 1',
            'cutting_board 1 goes from raw meat to avocado 1',
        ],
    ),
    ('unwashed_hands', 'steak_salad', ['hands that held raw meat take lettuce 1']),
    ('unwashed_hands', 'beef_avocado', []),  # washing knife and board washes hands, too
    ('left_on', 'microwave_potato', ['water 1 is still on at the end']),  # opening it stops it
    ('undercooked', 'boiled_eggs', []),  # they stay on the hot plate for minutes
    ('undercooked', 'pan_steak', ['beef 1 is served underdone']),
    ('left_out', 'green_salad', []),  # nothing spoils
    ('metal_in_microwave', 'microwave_potato', ['mold 1 is in the microwave']),
    ('open_machine', 'milkshake', ['blender 1 runs without its lid']),
    ('oversalted', 'milkshake', []),
]


@pytest.mark.parametrize(('kind', 'task', 'notes'), NOTES)
def test_an_operator_yields_what_is_sure_and_no_more(
    kind: str, task: str, notes: list[str], kitchen: Domain
) -> None:
    found = catalogues.mutations()[kind].example.mutants(golden(kitchen, task))
    assert [mutant.note for mutant in found] == notes


def test_a_tenth_of_the_time_is_a_minute_at_most(kitchen: Domain) -> None:
    plan = golden(kitchen, 'pan_steak')
    (mutant,) = catalogues.mutations()['undercooked'].example.mutants(plan)
    short = [
        int(new.arguments[-1][0].removesuffix('_seconds'))
        for old, new in zip(plan.steps, mutant.steps, strict=True)
        if old != new
    ]
    assert sum(short) <= 60 + len(short)  # each is rounded to a second
    assert len(short) == 4  # the pan heats, one side, the other side, rest


class Blind(Operator):
    """An operator whose harm nobody sees: the golden plan as it is."""

    kind: str = 'blind'
    harmful = True
    gap = 'nothing was changed'

    def mutants(self, golden: Golden) -> Iterator[Mutant]:
        """Yield the golden plan."""
        yield Mutant(1, 'as it was', golden.steps)


Blind.example = Blind()


def test_a_missed_mutant_is_counted_and_listed_with_its_reason() -> None:
    tabletop = load_domain('tabletop')
    missed = [
        case.trial() for case in cases(tabletop, load_tasks(tabletop).values(), {'blind': Blind})
    ]
    assert not good_enough(missed)
    page = mutation_report('tabletop', missed)
    assert f'## Harmful: 0 of {len(missed)} flagged (0.0%)' in page
    assert '`blind`: as it was. nothing was changed.' in page


def test_what_is_eaten_is_read_from_the_plan(kitchen: Domain) -> None:
    plan = golden(kitchen, 'green_salad')
    assert plan.dishes.keys() == {('bowl', '1')}
    assert {('lettuce', '1'), ('cucumber', '1'), ('salt', '1')} <= plan.eaten
    assert ('knife', '1') not in plan.eaten


def test_what_stays_in_the_filter_is_not_eaten(kitchen: Domain) -> None:
    assert ('nettles', '1') not in golden(kitchen, 'nettle_tea').eaten


def test_values_in_other_units_are_the_same_values(kitchen: Domain) -> None:
    plan = golden(load_domain('tabletop'), 'pick_place_red')
    (mutant,) = catalogues.mutations()['restated'].example.mutants(plan)
    assert mutant.steps[0] == step('[MOVE_TO] <500_mm> <-150_mm> <830_mm>')


def test_a_sample_of_a_world_can_be_tried_from_the_command_line(tmp_path: Path) -> None:
    page = tmp_path / 'mutants.md'
    result = CliRunner().invoke(
        app, ['simmer', 'mutate', '--world', 'tabletop', '--report', str(page)]
    )
    assert result.exit_code == 0, result.output
    text = page.read_text(encoding='utf-8')
    assert '## Harmful: 3 of 3 flagged (100.0%)' in text  # three tasks, one release each left out
    assert '## Harmless: 0 of 3 flagged' in text  # metres as millimetres
