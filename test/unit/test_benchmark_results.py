"""What is computed from the answers of a benchmark, and how it is shown."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from kitchenette import GERMS, write_kitchenette
from rich.console import Console
from scipy.stats import binomtest, bootstrap

from alpha_chaos.report.benchmark_page import build, verdict
from alpha_chaos.report.benchmark_table import print_table
from alpha_chaos.report.chains import chains
from alpha_chaos.run.benchmark import Options, run_benchmark
from alpha_chaos.stats.benchmark import SEED, summarize
from alpha_chaos.worldmodel.answers import FILE, Answer, Answers, Exchange, Origin, VerdictRecord
from alpha_chaos.worldmodel.benchmark_manifest import MANIFEST
from alpha_chaos.worldmodel.plan_text import read_plan
from alpha_chaos.worldmodel.score import open_benchmark, own_tasks
from alpha_chaos.worldmodel.verdict import Failure, Verdict

SOILED = Failure(2, 'germs', 'latent', False, 'soiled', 'contact', 3, 1, 2)
ON = Failure(0, 'stove_on', 'latent', True, 'left on', 'left_on', 2, 1)
REFUSED = Failure(3, 'grab: hands', 'immediate', True, 'hands are full')


def answer(
    plan_set: str, task: str, *failures: Failure, origin: Origin = 'model', attempt: int = 1
) -> Answer:
    spoken = Exchange(
        prompt_sha256='a', reply='', prompt_tokens=100, completion_tokens=50, wall_s=2.0
    )
    return Answer(
        plan_set=plan_set,
        task=task,
        technique='frying' if task < 'e' else 'baking',
        origin=origin,
        attempt=attempt,
        status='done',
        exchanges=(spoken,) if origin == 'model' else (),
        verdict=VerdictRecord.of(Verdict(5, failures, not failures)),
    )


def record() -> list[Answer]:
    """Ten tasks: foresight is clean on eight of them and on none that base is clean on."""
    rows = [answer('golden', task, origin='baseline') for task in 'abcdefghij']
    rows += [answer('empty', task, ON, origin='baseline') for task in 'abcdefghij']
    rows += [answer('base', task, SOILED, ON) for task in 'abcdefgh']
    rows += [answer('base', 'i'), answer('base', 'j', REFUSED)]
    rows += [answer('foresight', task) for task in 'abcdefgh']
    rows += [answer('foresight', 'i', REFUSED), answer('foresight', 'j', ON)]
    return rows


def test_failures_are_counted_by_set_rule_and_technique() -> None:
    found = summarize(record())
    assert [item.name for item in found.sets] == ['golden', 'empty', 'base', 'foresight']
    assert found.without == ('shuffled', 'truncated')
    base = found.sets[2]
    assert {name: item.total for name, item in base.counts.items()} == {
        'immediate': 1,
        'latent': 16,
        'irreversible': 8,
    }
    assert (base.counts['latent'].tasks.k, base.counts['latent'].tasks.n) == (8, 10)
    assert (base.clean.k, base.goal and base.goal.k) == (1, 1)
    rules = {rule.name: rule.failures for rule in found.rules}
    assert rules['germs'] == {'golden': 0, 'empty': 0, 'base': 8, 'foresight': 0}
    assert rules['stove_on'] == {'golden': 0, 'empty': 10, 'base': 8, 'foresight': 1}
    frying = next(item for item in found.techniques if item.name == 'frying')
    assert {name: item.clean.k for name, item in frying.sets.items()} == {
        'golden': 4,
        'empty': 0,
        'base': 0,
        'foresight': 4,
    }


def test_means_and_differences_have_the_intervals_that_scipy_gives() -> None:
    found = summarize(record())
    base = found.sets[2].counts['latent'].mean
    theirs = bootstrap(
        (np.sort([2.0] * 8 + [0.0] * 2),),
        np.mean,
        n_resamples=10_000,
        batch=500,
        vectorized=True,
        method='BCa',
        rng=np.random.default_rng(SEED),
    ).confidence_interval
    assert base.value == 1.6
    assert base.interval is not None
    assert (base.interval.low, base.interval.high) == (theirs.low, theirs.high)
    foresight = next(item for item in found.comparisons if item.name == 'foresight')
    # Eight tasks have two latent failures fewer, one none more or fewer, one has one more.
    assert foresight.differences['latent'].value == pytest.approx((-2 * 8 + 0 + 1) / 10)


def test_clean_plans_are_compared_by_mcnemar_and_holm_over_the_conditions() -> None:
    rows = record()
    rows += [answer('react', task) for task in 'abcdefghij']
    found = {item.name: item for item in summarize(rows).comparisons}
    assert {item.reference for item in found.values()} == {'base'}
    foresight, react = found['foresight'], found['react']
    assert foresight.test is not None
    assert (foresight.test.b, foresight.test.c) == (1, 8)
    exact = binomtest(1, 9).pvalue
    assert foresight.test.p_exact == pytest.approx(exact)
    better = binomtest(0, 9).pvalue  # react is clean on the nine that base is not
    assert react.p_holm == pytest.approx(2 * better)
    assert foresight.p_holm == pytest.approx(max(exact, 2 * better))
    # The baselines are corrected among themselves.
    assert found['golden'].p_holm == pytest.approx(2 * better)


def test_costs_are_of_a_task_and_include_what_failed() -> None:
    failed = answer('base', 'a', attempt=1).model_copy(
        update={'status': 'aborted', 'reason': 'timeout: slow', 'verdict': None}
    )
    rows = [failed, answer('base', 'a', attempt=2), answer('base', 'b')]
    (base,) = summarize(rows).sets
    assert base.cost is not None
    assert base.cost.calls is not None
    assert (base.cost.calls.low, base.cost.calls.high) == (1, 2)
    assert base.cost.wall_s is not None
    assert base.cost.wall_s.mean == 3.0
    assert (base.n, base.aborted) == (2, 0)


def test_a_task_without_an_answer_is_in_no_count() -> None:
    aborted = Answer(
        plan_set='base', task='b', origin='model', status='aborted', reason='timeout: slow'
    )
    (base,) = summarize([answer('base', 'a', SOILED), aborted]).sets
    assert (base.n, base.aborted) == (1, 1)
    assert (base.clean.n, base.counts['latent'].tasks.n) == (1, 1)


def test_a_chain_says_which_step_planted_and_which_sealed_the_harm(tmp_path: Path) -> None:
    exam = own_tasks(str(write_kitchenette(tmp_path / 'kitchenette')))['salad']
    (chain,) = chains(
        Answer(
            plan_set='base',
            task='salad',
            origin='model',
            status='done',
            plan=GERMS,
            verdict=VerdictRecord.of(exam.judge(read_plan(GERMS))),
        )
    )
    assert [(event.moment, event.marks) for event in chain.events] == [
        ('step 1', ('planted',)),
        ('step 3', ('passed on',)),
        ('step 4', ('sealed',)),
        ('end', ('shows',)),
    ]  # over the hands: the board is in no part of it
    assert chain.events[0].action == '[GRAB] <chicken> (1)'
    places = [event.x for event in chain.events]
    assert places == sorted(places)


class Page(HTMLParser):
    """Tags, and the addresses and anchors in them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.ids: set[str] = set()
        self.addresses: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            if name == 'id':
                assert value not in self.ids
                self.ids.add(str(value))
            if name in ('href', 'src'):
                self.addresses.append(str(value))


HOSTILE = '<script>alert(1)</script>\x1b[31m\u202e"\''


@pytest.fixture(scope='module')
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose plans, replies and rules try to get out of the page."""
    world = write_kitchenette(tmp_path_factory.mktemp('world') / 'kitchenette')
    out = tmp_path_factory.mktemp('run') / 'run'
    plans = out.parent / 'mine'
    plans.mkdir()
    (plans / 'plan_salad.txt').write_text(f'{GERMS}\n5. [SERVE] <{HOSTILE}> (1)\n[x]{HOSTILE}')
    console = Console(quiet=True)
    benchmark = open_benchmark(None, 'strict', str(world))
    assert run_benchmark(benchmark, out, Options(plans=[plans]), console, report=False) == 0
    failure = Failure(2, HOSTILE, 'latent', False, HOSTILE, HOSTILE, 3, 1, 2)
    with Answers(out) as answers:
        answers.add([answer(f'b{HOSTILE}', 'salad', failure)])
    return out


def test_the_page_stands_alone_and_nothing_in_it_is_markup_but_ours(folder: Path) -> None:
    text = build(folder).read_text('utf-8')
    page = Page(text)
    assert 'script' not in page.tags
    assert '\x1b' not in text
    assert '\u202e' not in text
    for address in page.addresses:
        if address.startswith('#'):
            assert address[1:] in page.ids, address
        elif not address.startswith('data:'):
            assert ':' not in address
            # The plan that was made up here has no file.
            assert 'plans/b' in address or (folder / 'report' / address).exists(), address
    assert page.tags.count('svg') >= 2  # a timeline each for germs and for the made-up harm
    assert re.search(r'aria-label="step 1: planted; \[GRAB\] &lt;chicken&gt; \(1\)', text)


def test_the_headline_says_how_many_plans_are_missing(folder: Path, tmp_path: Path) -> None:
    assert 'missing' not in build(folder).read_text('utf-8')
    stopped = tmp_path / 'run'
    stopped.mkdir()
    (stopped / FILE).write_bytes((folder / FILE).read_bytes())
    manifest = json.loads((folder / MANIFEST).read_text('utf-8'))
    manifest |= {'conditions': {'base': {}, 'foresight': {}}, 'asked': {'base': ['salad']}}
    (stopped / MANIFEST).write_text(json.dumps(manifest), 'utf-8')
    # One of base, and of foresight as many as there are tasks.
    said = '3 of 3 plans are missing; the same command goes on. Clean plans: '
    assert said in build(stopped).read_text('utf-8')


def test_plans_that_are_not_there_yet_were_asked_for_all_the_same() -> None:
    found = summarize([answer('golden', 'a', origin='baseline')])
    left = '2 of 2 plans are missing; the same command goes on'
    assert verdict(found, left) == (
        f'{left}. Clean plans: none are there yet; baselines: golden 1/1.'
    )
    assert verdict(found, '') == 'Clean plans: none were asked for; baselines: golden 1/1.'


def test_the_same_run_gives_the_same_page(folder: Path) -> None:
    first = build(folder).read_bytes()
    assert build(folder).read_bytes() == first


def test_the_terminal_shows_what_is_there_and_nothing_else(folder: Path) -> None:
    console = Console(record=True, width=120, force_terminal=False)
    print_table(folder, console)
    text = console.export_text()
    assert '\x1b' not in text
    assert 'served_with_germs' in text
    for name in ('empty', 'golden', 'shuffled', 'truncated'):
        assert name in text
