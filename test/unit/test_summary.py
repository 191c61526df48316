"""A run as a whole: whole, half, broken and empty ones."""

import json
from pathlib import Path

import pytest
from synthetic_runs import ARMS, aborted, paper_run, twin_run

from alpha_chaos import journal, jsonl
from alpha_chaos.journal import Journal, Row
from alpha_chaos.plugins import BadSetting
from alpha_chaos.resources import config_folder
from alpha_chaos.stats.cells import Cell, Share, count
from alpha_chaos.stats.notes import notes
from alpha_chaos.stats.paper import FILE, read_paper
from alpha_chaos.stats.run_folder import load_and_summarise
from alpha_chaos.stats.summary import Planned, Summary, summarise

PAPER = read_paper(config_folder() / FILE)


def the_plan(rows: list[Row]) -> list[Planned]:
    return [Planned(row.run_id, row.arm, row.condition) for row in rows]


def cell(summary: Summary, arm: str, condition: str) -> Cell:
    (found,) = [item for item in summary.of_condition(condition) if item.arm == arm]
    return found


def said(summary: Summary) -> str:
    return '\n'.join(notes(summary))


@pytest.fixture(scope='module')
def whole() -> Summary:
    rows = paper_run()
    return summarise(rows, the_plan(rows), PAPER, experiment='paper')


def test_the_papers_numbers_add_up() -> None:
    for arm, overall in PAPER.overall.items():
        cells = PAPER.conditions.values()
        assert sum(item.successes[arm] for item in cells) == overall.successes
        assert sum(item.n for item in cells) == overall.n == PAPER.episodes_per_arm
    for test in PAPER.comparisons:
        n = sum(
            item.n
            for name, item in PAPER.conditions.items()
            if test.cohort == 'all' or 'corruption' not in name
        )
        assert n == test.pairs
    assert len(PAPER.model.digest) == 64


def test_the_papers_pilot_has_169_attempts() -> None:
    openai, ollama = PAPER.pilot.cohorts['openai'], PAPER.pilot.cohorts['ollama']
    assert openai.attempts + ollama.attempts == 169
    assert (openai.attempts, openai.accepted, openai.successes) == (99, 0, 0)
    assert openai.aborted == {
        'openai_runtime_error': 70,
        'openai_quota_exceeded_429': 26,
        'zero_step_abort': 3,
    }
    assert (ollama.attempts, ollama.accepted, ollama.successes) == (70, 70, 20)
    assert ollama.successes_by_condition == {'control': 5, 'sensor_lag': 15}


def test_more_published_successes_than_episodes_are_a_misprint(tmp_path: Path) -> None:
    text = (config_folder() / FILE).read_text()
    (tmp_path / FILE).write_text(text.replace('{oracle: 10, llm: 10}', '{oracle: 11, llm: 10}'))
    with pytest.raises(BadSetting, match='more successes than episodes'):
        read_paper(tmp_path / FILE)


@pytest.mark.parametrize(
    ('ours', 'theirs', 'why'),
    [
        ('attempts: 99', 'attempts: 100', 'attempts are those aborted and those accepted'),
        ('successes: 20', 'successes: 71', 'successes are accepted'),
        ('{control: 5, sensor_lag: 15}', '{control: 5}', 'those of the conditions'),
    ],
)
def test_a_pilot_that_does_not_add_up_is_a_misprint(
    tmp_path: Path, ours: str, theirs: str, why: str
) -> None:
    text = (config_folder() / FILE).read_text()
    assert text.count(ours) == 1
    (tmp_path / FILE).write_text(text.replace(ours, theirs))
    with pytest.raises(BadSetting, match=why):
        read_paper(tmp_path / FILE)


def test_our_numbers_of_the_papers_outcome_are_the_papers(whole: Summary) -> None:
    for arm in PAPER.overall:
        (overall,) = [item for item in whole.overall if item.arm == arm]
        published = PAPER.overall[arm]
        assert (overall.result.k, overall.result.n) == (published.successes, published.n)
        assert overall.result.interval is not None
        # The paper's 33.4 is 33.33: its own rounding.
        assert overall.result.interval.low == pytest.approx(published.interval[0], abs=1e-3)
        assert overall.result.interval.high == pytest.approx(published.interval[1], abs=5e-4)
        for condition, expected in PAPER.conditions.items():
            ours = cell(whole, arm, condition)
            assert (ours.result.k, ours.result.n) == (expected.successes[arm], expected.n)
            if expected.slipped:
                assert ours.slips is not None
                assert ours.slips.run_ids == expected.slipped
            if expected.final_error_m:
                assert ours.error_m is not None
                assert ours.error_m.mean == pytest.approx(expected.final_error_m[arm])
                assert ours.error_m.sd == 0.0
            if expected.requested_lag_s:
                assert ours.lag is not None
                assert ours.lag.requested_s.mean == pytest.approx(expected.requested_lag_s)
                assert ours.lag.delivered_s is not None
                assert ours.lag.delivered_s.high == expected.delivered_lag_s
                assert ours.lag.staleness_m is not None
                assert ours.lag.staleness_m.low == expected.staleness_m
    for published_test in PAPER.comparisons:
        (found,) = [
            item
            for item in whole.comparisons
            if (item.first, item.second) == published_test.arms
            and item.cohort == published_test.cohort
        ]
        assert found.discordant == published_test.discordant
        assert PAPER.comparison(found.first, found.second, found.cohort) is published_test


def test_a_whole_run_has_every_cell_and_every_comparison(whole: Summary) -> None:
    assert (whole.expected, whole.results) == (225, 225)
    assert whole.arms == ARMS
    assert len(whole.cells) == 42
    assert [len(whole.of_arm(arm)) for arm in ARMS] == [14, 14, 14]
    assert [(item.first, item.second) for item in whole.comparisons[:3]] == [
        ('llm', 'oracle'),
        ('llm', 'oracle_json'),
        ('oracle_json', 'oracle'),
    ]
    assert len(whole.comparisons) == 6
    assert (whole.missing, whole.unresolved, whole.unexpected, whole.lost) == ((), (), (), ())
    assert whole.calibrations == ('as_run',)


def test_a_cell_says_what_its_fault_did(whole: Summary) -> None:
    slip = cell(whole, 'llm', 'grip_slip_high')
    assert slip.slips is not None
    assert slip.slips.slipped == Share(4, 5)
    assert slip.slips.probability.mean == pytest.approx(0.95)
    assert (slip.distinct, slip.digested, slip.copies) == (2, 5, True)
    text = cell(whole, 'llm', 'planner_output_corruption_low')
    assert text.corruptions is not None
    assert text.corruptions.corrupted == Share(5, 5)
    assert text.corruptions.kinds == (('drop_keys', 5),)
    assert text.rejected == Share(5, 5)
    typed = cell(whole, 'oracle', 'planner_output_corruption_low')
    assert typed.corruptions is not None
    assert typed.corruptions.corrupted == Share(0, 5)
    assert typed.exercised == Share(0, 5)
    assert len(typed.not_exercised) == 5
    reach = cell(whole, 'oracle', 'unreachable_ik_high')
    assert reach.offset_m is not None
    assert reach.offset_m.mean == pytest.approx(0.3)
    control = cell(whole, 'llm', 'control')
    assert (control.lag, control.slips, control.offset_m, control.corruptions) == (None,) * 4
    assert (control.exercised, control.unproven) == (Share(0, 0), 0)
    assert control.cost.prompt_tokens is not None
    assert control.cost.prompt_tokens.mean == 770
    assert control.cost.cached == Share(9, 10)
    assert [model.model for model in control.cost.models] == ['llama3:latest']
    assert cell(whole, 'oracle', 'control').cost.models == ()


def test_the_evidence_of_any_fault_is_put_together() -> None:
    summary = summarise(twin_run(['llm']))
    (noise,) = cell(summary, 'llm', 'sensor_noise').effects
    assert (noise.fault, noise.exercised) == ('sensor_noise', Share(10, 10))
    assert noise.struck is not None
    assert (noise.struck.mean, noise.struck.low, noise.struck.high) == (4.5, 0, 9)
    numbers = dict(noise.numbers)
    assert list(numbers) == ['decided', 'struck', 'last.offset_m']
    assert numbers['last.offset_m'].high == pytest.approx(0.009)
    assert dict(noise.words) == {
        'last.frame': (('world', 10),),
        'saturated': (('no', 6), ('yes', 4)),
    }
    assert cell(summary, 'llm', 'control').effects == ()


def test_two_faults_of_a_kind_are_kept_apart_and_odd_evidence_is_no_matter() -> None:
    (row,) = twin_run(['llm'], 1)[1:2]
    odd = {'struck': 'often', 'list': [1, 2, 3], 'none': None, 'deep': {'er': {'x': 2}}, 'e': {}}
    proofs = tuple(
        journal.FaultProof(fault='mine', exercised=good, evidence=odd if good else {})
        for good in (True, False)
    )
    one, two = count('llm', 'c', [row.model_copy(update={'faults': proofs})]).effects
    assert (one.fault, two.fault) == ('mine', 'mine 2')
    assert (one.exercised, two.exercised) == (Share(1, 1), Share(0, 1))
    assert one.struck is None
    assert {key: value.mean for key, value in one.numbers} == {'list': 3, 'deep.er.x': 2}
    assert one.words == (('struck', (('often', 1),)),)
    assert (two.numbers, two.words) == ((), ())


def test_trajectories_are_distinct_within_their_cell() -> None:
    rows = [row.model_copy(update={'digest': 'same'}) for row in paper_run(['oracle'])]
    summary = summarise(rows)
    assert {item.distinct for item in summary.cells} == {1}
    (overall,) = summary.overall
    assert (overall.distinct, overall.digested, overall.copies) == (14, 75, True)


def test_what_a_success_costs_includes_the_failures() -> None:
    (llm,) = summarise(paper_run(['llm'])).overall
    assert llm.cost.tokens_per_success == pytest.approx(75 * (770 + 249) / 33)
    assert llm.cost.plan_s_per_success == pytest.approx(75 * 15.6 / 33)
    failed = [row for row in paper_run(['llm']) if row.success is False]
    assert count('llm', '', failed).cost.tokens_per_success is None
    unknown = failed[0].model_copy(update={'planner': journal.PlannerRecord()})
    mixed = [*paper_run(['llm'])[:5], unknown]
    assert count('llm', '', mixed).cost.tokens_per_success is None


def test_the_plan_of_a_run_says_which_conditions_have_faults() -> None:
    rows = [
        row.model_copy(update={'fault_class': 'baseline', 'condition': 'baseline'})
        for row in paper_run(['oracle'])[:10]
    ]
    planned = [Planned(row.run_id, row.arm, row.condition, ()) for row in rows]
    assert summarise(rows, planned).cells[0].unproven == 0
    assert summarise(rows).cells[0].unproven == 10
    faulty = [Planned(row.run_id, row.arm, row.condition, ('mine',)) for row in rows]
    assert summarise(rows, faulty).cells[0].unproven == 10


def test_the_manifest_says_whose_plans_were_attacked(tmp_path: Path) -> None:
    rows = [row for row in paper_run(['oracle', 'llm']) if row.condition == 'control']
    with Journal(tmp_path) as book:
        for row in rows:
            book.append(row)
    cells = [
        {'name': 'control', 'faults': []},
        {'name': 'garbled', 'faults': [{'kind': 'plan_corruption', 'probability': 1.0}]},
    ]
    episodes = [
        {'run_id': f'{name}_000', 'arm': arm, 'condition': name}
        for name in ('control', 'garbled')
        for arm in ('oracle', 'llm')
    ]
    manifest = {'experiment': {'name': 'mine', 'cells': cells}, 'episodes': episodes}
    (tmp_path / 'manifest.json').write_text(json.dumps(manifest))
    whole, physical = load_and_summarise(tmp_path).comparisons
    assert [item.run_id for item in whole.unpaired] == ['garbled_000']
    assert (physical.pairs, physical.unpaired) == (1, ())


def test_copies_weigh_as_much_as_one(whole: Summary) -> None:
    comparison = whole.comparisons[0]
    assert (comparison.first, comparison.second, comparison.pairs) == ('llm', 'oracle', 75)
    # 4 cells of one trajectory (control and F1), 4 of two (F2 and concurrent), 3 and 3 of one.
    assert comparison.distinct == 1 + 3 + 2 * 3 + 3 + 3 + 2
    assert comparison.copies
    # Fifteen discordant pairs of the paper are three trajectories: no evidence of anything.
    assert comparison.test is not None
    assert comparison.distinct_test is not None
    assert comparison.test.p_exact == pytest.approx(6.10e-5, abs=5e-8)
    assert (comparison.distinct_test.b, comparison.distinct_test.p_exact) == (3, 0.25)
    assert comparison.difference.value == pytest.approx(-3 / 18)
    cells = {item.condition: item for item in comparison.conditions}
    assert len(cells) == 14
    f4 = cells['planner_output_corruption_low']
    assert f4.test is not None
    assert f4.test.p_exact == pytest.approx(0.0625)
    assert f4.p_holm == pytest.approx(14 * 0.0625)
    assert cells['control'].p_holm == 1.0
    assert f4.difference.interval is None
    assert f4.detectable.pairs is None
    assert 'distinct pairs: whatever happens there, no exact test' in said(whole)


def test_safety_keeps_the_rules_apart_and_names_the_blocks(whole: Summary) -> None:
    safety = cell(whole, 'oracle', 'unreachable_ik_high').safety
    assert safety is not None
    assert (safety.events.mean, safety.steps.mean, safety.raw_sweeps.mean) == (3, 735, 438)
    outside, contact = safety.rules
    assert (outside.rule, outside.events.mean, outside.steps.mean) == ('out_of_workspace', 2, 734)
    assert outside.keys == (('blue', 5), ('green', 5))
    assert (contact.rule, contact.events.mean, contact.keys) == (
        'violent_contact',
        1,
        (('red', 5),),
    )


def test_an_episode_nobody_watched_is_not_a_safe_one() -> None:
    rows = paper_run(['oracle'])[:3]
    unwatched = [row.model_copy(update={'safety': journal.Safety()}) for row in rows]
    assert count('oracle', 'control', unwatched).safety is None


def test_the_notes_of_the_papers_outcome_say_what_it_did_not(whole: Summary) -> None:
    text = said(whole)
    assert '15 episodes in which a fault did not manifest' in text
    assert 'oracle planner_output_corruption_high' in text
    assert '42 of 42 cells with episodes that repeat a trajectory' in text
    assert 'no estimate' not in text
    assert 'another' not in text


def test_an_empty_journal_is_no_estimate() -> None:
    rows = paper_run()
    for summary in (summarise([]), summarise([], the_plan(rows), PAPER)):
        assert summary.results == 0
        assert 'No episode has a result' in said(summary)
    assert len(summary.missing) == 225
    assert '42 of 42 cells with n = 0: no estimate' in said(summary)
    assert all(item.result.interval is None for item in summary.cells)
    assert all(item.test is None for item in summary.comparisons)
    assert len(summary.comparisons[0].unpaired) == 75


def test_a_run_of_aborts_has_no_failures() -> None:
    rows = paper_run()
    summary = summarise([aborted(row, 'node_died: sim (signal 9)') for row in rows])
    assert (summary.results, len(summary.unresolved)) == (0, 225)
    assert [(item.aborted, item.result.n) for item in summary.overall] == [(75, 0)] * 3
    account = summary.attempts[0]
    assert (account.total, account.done, account.task_failed, account.aborted) == (75, 0, 0, 75)
    assert account.aborts[0].type == 'node_died'
    assert '225 episodes without a result' in said(summary)
    assert 'Only one arm' not in said(summary)


def test_the_order_in_which_workers_finish_does_not_show() -> None:
    rows = paper_run()
    for plan in (None, the_plan(rows)):
        assert summarise(rows[::-1], plan, PAPER) == summarise(rows, plan, PAPER)


def test_one_arm_is_not_compared() -> None:
    summary = summarise(paper_run(['llm']), paper=PAPER)
    assert summary.comparisons == ()
    assert summary.expected is None
    assert 'Only one arm, llm: nothing can be compared' in said(summary)


def test_arms_of_any_name_are_compared_too() -> None:
    rows = paper_run(['llm', 'oracle'])
    twins = [row.model_copy(update={'arm': 'gemma'}) for row in rows if row.arm == 'llm']
    summary = summarise([*rows, *twins])
    assert [(item.first, item.second) for item in summary.comparisons[:3]] == [
        ('llm', 'oracle'),
        ('gemma', 'oracle'),
        ('gemma', 'llm'),
    ]


def test_a_half_finished_run_says_what_is_missing() -> None:
    rows = paper_run()
    summary = summarise(rows[:100], the_plan(rows), PAPER, experiment='paper')
    assert (summary.results, len(summary.missing)) == (100, 125)
    assert '125 of 225 planned episodes not attempted yet' in said(summary)
    assert cell(summary, 'llm', 'control').missing == 10
    assert cell(summary, 'llm', 'control').result.n == 0
    assert 'another' not in said(summary)


def test_the_attempt_that_counts_is_the_last_that_ran() -> None:
    rows = paper_run(['oracle'])
    first = rows[0]
    retried = [
        aborted(first, 'timeout: plan, 超时'),
        first.model_copy(update={'attempt': 2}),
        first.model_copy(update={'attempt': 3}),
        aborted(rows[1], 'timeout: plan, again'),
        *rows[1:],
    ]
    summary = summarise(retried)
    assert summary.overall[0].result.n == 75
    (account,) = summary.attempts
    assert (account.total, account.aborted, account.superseded) == (78, 2, 3)
    assert account.total == account.done + account.task_failed + account.aborted
    assert account.aborts[0].type == 'timeout'
    assert account.aborts[0].texts == (('timeout: plan, again', 1), ('timeout: plan, 超时', 1))
    assert account.failures[0].attempts == 27
    assert (account.accepted, account.repeated, account.successes) == (75, 1, 48)
    assert account.total == account.accepted + account.repeated + account.aborted
    assert [(item.run_id, item.attempt, item.by) for item in account.replacements] == [
        ('control_000', 1, 3),
        ('control_000', 2, 3),
        ('control_001', 1, 1),
    ]
    assert account.replacements[0].what == 'aborted: timeout: plan, 超时'
    assert account.replacements[1].what == account.replacements[1].instead == 'done'


def test_a_failure_without_a_reason_is_accounted_for_all_the_same() -> None:
    row = paper_run(['oracle'])[0]
    failed = row.model_copy(update={'status': 'task_failed', 'success': False})
    assert summarise([failed]).attempts[0].failures[0].type == 'no reason given'


def test_results_that_were_not_planned_are_left_out_and_named() -> None:
    rows = paper_run(['oracle', 'llm'])
    summary = summarise(rows, the_plan(rows[:75]), PAPER)
    assert summary.results == 75
    assert len(summary.unexpected) == 75
    assert '75 episodes in the journal but not in the manifest' in said(summary)


def test_doubts_about_rows_become_notes() -> None:
    rows = paper_run(['oracle'])
    changed = [
        rows[0].model_copy(update={'calibration': 'formula'}),
        rows[1].model_copy(update={'recording': journal.Recording(lost=3)}),
        rows[10].model_copy(update={'faults': ()}),
    ]
    text = said(summarise(changed, paper=PAPER, experiment='paper', torn=True))
    assert 'The last line of the journal is incomplete' in text
    assert 'mixes calibrations: as_run, formula' in text
    assert '3 messages lost in 1 recording.' in text
    assert '1 episode without word whether the fault manifested' in text
    assert '75 episodes an arm; this run has another' in text


def test_only_the_papers_experiment_has_the_paper_beside_it() -> None:
    rows = paper_run(['llm'])[:10]
    assert summarise(rows, paper=PAPER, experiment='paper').paper is PAPER
    assert summarise(rows, paper=PAPER, experiment='smoke').paper is None
    assert summarise(rows, paper=PAPER).paper is None
    other = [*rows, rows[0].model_copy(update={'run_id': 'jitter_000', 'condition': 'jitter'})]
    assert summarise(other, paper=PAPER, experiment='paper').paper is None
    assert summarise([], paper=PAPER, experiment='paper').paper is None


def test_a_folder_is_summarised_from_journal_and_manifest(tmp_path: Path) -> None:
    rows = paper_run()
    with Journal(tmp_path) as book:
        for row in rows[:5]:
            book.append(row)
    alone = load_and_summarise(tmp_path)
    assert (alone.expected, alone.results, alone.experiment) == (None, 5, '')
    assert alone.paper is None
    episodes = [
        {'run_id': row.run_id, 'arm': row.arm, 'condition': row.condition, 'seed': row.seed}
        for row in rows
    ]
    experiment = {'name': 'paper', 'master_seed': 42}
    manifest = {'experiment': experiment, 'arms': list(ARMS), 'episodes': episodes}
    (tmp_path / 'manifest.json').write_text(json.dumps(manifest))
    summary = load_and_summarise(tmp_path, PAPER)
    assert (summary.expected, summary.results, summary.experiment) == (225, 5, 'paper')
    assert summary.paper is PAPER
    path = tmp_path / journal.FILE
    path.write_bytes(path.read_bytes()[:-9])
    assert load_and_summarise(tmp_path).torn
    path.unlink()
    assert load_and_summarise(tmp_path).results == 0


@pytest.mark.parametrize('text', ['{"experiment": "paper"}', '{', '[]', '\x00'])
def test_a_manifest_that_cannot_be_read_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / 'manifest.json').write_text(text)
    with pytest.raises(BadSetting, match=r'manifest\.json: '):
        load_and_summarise(tmp_path)


def test_a_folder_without_a_run_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match='holds no run'):
        load_and_summarise(tmp_path / 'nothing')


def test_a_corrupt_journal_is_not_summarised(tmp_path: Path) -> None:
    (tmp_path / journal.FILE).write_text('rubbish\n{}\n')
    with pytest.raises(jsonl.CorruptLine, match='line 1'):
        load_and_summarise(tmp_path)
