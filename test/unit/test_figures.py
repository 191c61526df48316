"""Figures show what the summary says, of any run, and are the same bytes every time."""

import io
import re
from xml.etree import ElementTree

import pytest
from PIL import Image
from synthetic_runs import aborted, paper_run, twin_run

from alpha_chaos.journal import final
from alpha_chaos.report.figures import pictures
from alpha_chaos.report.figures.base import ARM_COLOURS, GREY
from alpha_chaos.report.figures.paths import path_of
from alpha_chaos.resources import config_folder
from alpha_chaos.stats import paper
from alpha_chaos.stats.sensitivity import Looked, Sensitivity
from alpha_chaos.stats.summary import Planned, summarise

PAPER = paper.read_paper(config_folder() / paper.FILE)
RULE = ('out_of_workspace', 'green')
WINDOWS = (1, 5, 10, 15, 30, 60)


def looked(raw, events):
    return tuple(
        Looked(window, {RULE: raw}, {RULE: count}, {RULE: raw})
        for window, count in zip(WINDOWS, events, strict=True)
    )


def watched(rows, raw=438):
    """Return what no recording was read for: a violation that a longer window joins."""
    seen = Sensitivity(looked(raw, (4, 2, 2, 2, 1, 1)), looked(62, (1,) * 6))
    return {row.key: seen for row in rows}


def drawn(rows, planned=None, safety=None, **told):
    summary = summarise(rows, planned, **told)
    found = list(pictures(summary, list(final(rows).values()), safety or {}))
    return {picture.name: picture for picture in found}


RUNS = {
    'paper': lambda: drawn(
        paper_run(), paper=PAPER, experiment='paper', safety=watched(paper_run())
    ),
    'twins': lambda: drawn(twin_run(('oracle', 'llm', 'llm_retry'))),
    'single arm': lambda: drawn(paper_run(('llm',))),
    'all aborted': lambda: drawn([aborted(row, 'timeout: plan') for row in twin_run()]),
    'nothing yet': lambda: drawn([], [Planned('a_000', arm, 'a') for arm in ('oracle', 'llm')]),
    'no plan': lambda: drawn([]),
}


@pytest.fixture(scope='module')
def runs():
    """Return the figures of every run, drawn once."""
    return {name: draw() for name, draw in RUNS.items()}


def texts(picture):
    root = ElementTree.fromstring(picture.svg)
    return [
        ''.join(item.itertext()).strip() for item in root.iter('{http://www.w3.org/2000/svg}text')
    ]


def test_each_run_has_the_figures_for_which_there_is_something_to_show(runs):
    assert list(runs['paper']) == [
        'success',
        'pairs',
        'lag',
        'slip',
        'error',
        'paths',
        'events',
        'window',
        'scans',
        'cost',
        'attempts',
    ]
    assert {'twins', 'recoveries'} <= set(runs['twins'])
    assert not {'lag', 'slip', 'paths', 'window', 'scans'} & set(runs['twins'])
    assert 'pairs' not in runs['single arm']
    assert set(runs['all aborted']) == {'success', 'attempts'}
    assert set(runs['nothing yet']) == {'success', 'attempts'}
    assert not runs['no plan']


@pytest.mark.parametrize('run', RUNS)
def test_every_figure_is_xml_and_an_image_and_says_what_it_shows(runs, run):
    for picture in runs[run].values():
        assert ElementTree.fromstring(picture.svg).tag == '{http://www.w3.org/2000/svg}svg'
        image = Image.open(io.BytesIO(picture.png))
        assert image.width == 960, '6.4 in at 150 dpi'
        assert image.convert('RGB').getpixel((0, 0)) == (255, 255, 255)
        assert picture.title
        assert picture.caption.endswith('.')
        assert picture.alt.endswith('.')


def test_the_same_run_is_drawn_the_same(runs):
    assert RUNS['paper']() == runs['paper']


def test_nothing_in_a_figure_hangs_on_the_day(runs):
    for picture in runs['paper'].values():
        assert 'date' not in picture.svg
        assert picture.svg.startswith('<svg')


def test_no_id_is_in_two_figures(runs):
    found = [set(re.findall(r'\bid="([^"]+)"', item.svg)) for item in runs['paper'].values()]
    assert sum(map(len, found)) == len(set.union(*found))
    for picture, ids in zip(runs['paper'].values(), found, strict=True):
        assert all(name.startswith(f'{picture.name}-') for name in ids)
        links = re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', picture.svg)
        assert {one or other for one, other in links} <= ids


def test_a_figure_needs_nothing_from_elsewhere(runs):
    for run in runs.values():
        for picture in run.values():
            without_names = re.sub(r'xmlns(:\w+)?="[^"]*"|rdf:resource="[^"]*"', '', picture.svg)
            assert 'http' not in without_names


def luminance(colour):
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize('ground', ['#ffffff', '#111111'])
def test_colours_can_be_told_from_light_and_dark_ground(ground):
    # WCAG 2.2: 3 : 1 for graphics and large text; our small text lies between that and 4.5 : 1.
    assert contrast(GREY, ground) > 4.2
    assert all(contrast(colour, ground) > 3.0 for colour in ARM_COLOURS)


def test_text_in_a_figure_is_grey_or_stands_on_a_bar(runs):
    for picture in runs['paper'].values():
        fills = re.findall(r'<text style="[^"]*fill: (#[0-9a-f]{6})', picture.svg)
        assert fills, picture.name
        assert set(fills) <= {GREY, '#ffffff'}, picture.name


def test_success_says_how_many_of_how_many(runs):
    picture = runs['paper']['success']
    assert 'oracle 48/75 (64.0 %); oracle_json 33/75 (44.0 %); llm 33/75 (44.0 %)' in picture.alt
    shown = texts(picture)
    assert shown.count('10/10') == 3  # control
    assert shown.count('3/5') == 3  # the lowest slip
    assert 'paper' in shown


def test_success_marks_cells_that_count_copies(runs):
    assert 'In 42 of 42 cells episodes repeat a trajectory' in runs['paper']['success'].caption
    assert 'n counts copies' in texts(runs['paper']['success'])
    assert 'repeat' not in runs['twins']['success'].caption
    assert 'n counts copies' not in texts(runs['twins']['success'])


def test_a_cell_without_a_result_has_no_estimate(runs):
    for run in ('all aborted', 'nothing yet'):
        picture = runs[run]['success']
        assert 'no result' in texts(picture)
        assert 'oracle 0/0' in picture.alt
        assert '%)' not in picture.alt
        assert picture.caption == 'No episode has a result yet.'


def test_pairs_say_in_which_way_they_disagree(runs):
    assert 'llm and oracle 33, 0, 15, 27' in runs['paper']['pairs'].alt
    assert 'llm and oracle_json 33, 0, 0, 42' in runs['paper']['pairs'].alt
    assert 'with copies' in texts(runs['paper']['pairs'])
    assert 'with copies' not in texts(runs['twins']['pairs'])


def test_a_twin_is_in_percentage_points(runs):
    # 4 of 10 episodes fail with noise and none without.
    assert 'sensor_noise of oracle -40.0 [' in runs['twins']['twins'].alt
    assert 'sensor_noise of llm_retry -20.0 [' in runs['twins']['twins'].alt
    assert texts(runs['twins']['twins']).count('n = 10') == 6


def test_recovery_says_what_it_gains_and_what_it_costs(runs):
    # 2 of 30 episodes recover, for one more round with 1081 more tokens each.
    alt = runs['twins']['recoveries'].alt
    assert 'llm_retry against llm: success +6.7 [' in alt
    assert 'rounds +0.0667' in alt
    assert 'tokens +72.1' in alt


def test_lag_has_what_was_asked_what_came_and_the_jaws(runs):
    alt = runs['paper']['lag'].alt
    assert 'llm asked for 1.03 (0.562-1.5) s, got 0.5 s, staleness 0.025 m' in alt
    assert 'jaw span 0.08 m' in alt
    assert 'the jaws open 80 mm' in texts(runs['paper']['lag'])


def test_slip_has_rate_and_probability(runs):
    assert 'grip_slip_low of llm 2/5 at a probability of 0.381' in runs['paper']['slip'].alt
    assert 'grip_slip_high of llm 4/5 at a probability of 0.95' in runs['paper']['slip'].alt


def test_every_episode_is_a_point_of_the_error(runs):
    alt = runs['paper']['error'].alt
    assert 'success radius 0.05 m' in alt
    points = ElementTree.fromstring(runs['paper']['error'].svg).iter(
        '{http://www.w3.org/2000/svg}use'
    )
    blue, orange, green = ARM_COLOURS[:3]
    found = [use.get('style') or '' for use in points]
    for colour in (blue, orange, green):
        of_arm = [style for style in found if f'fill: {colour}' in style]
        assert len(of_arm) == 75 + 1, 'and one in the legend'


def test_errors_of_more_than_an_order_of_magnitude_are_drawn_on_a_logarithmic_axis():
    rows = [
        row.model_copy(update={'final_error_m': 10.0**-place})
        for place, row in enumerate(twin_run(('oracle',), 4)[:4])
    ]
    assert 'The axis is logarithmic' in drawn(rows)['error'].caption
    assert 'logarithmic' not in drawn(rows[:1])['error'].caption


def test_paths_lead_from_the_text_to_the_robot(runs):
    alt = runs['paper']['paths'].alt
    assert 'oracle: text unharmed > accepted > moves, succeeds 15' in alt
    assert 'llm: drop keys > missing key > does not move 15' in alt


@pytest.mark.parametrize(
    ('change', 'expected'),
    [
        ({}, ('text unharmed', 'accepted', 'moves, succeeds')),
        ({'success': False}, ('text unharmed', 'accepted', 'moves, fails')),
        ({'success': False, 'valid': None}, ('text unharmed', 'no plan came', 'does not move')),
        (
            {'success': False, 'valid': False, 'reasons': ('not_json: Extra data',)},
            ('text unharmed', 'not json', 'does not move'),
        ),
        (
            {'success': False, 'valid': False, 'reasons': ()},
            ('text unharmed', 'rejected', 'does not move'),
        ),
    ],
)
def test_a_path_is_told_from_the_journal(change, expected):
    row = paper_run(('oracle',))[0]
    plan = {key: value for key, value in change.items() if key != 'success'}
    told = row.model_copy(
        update={
            'success': change.get('success', True),
            'plan': row.plan.model_copy(update=plan),
        }
    )
    assert path_of(told) == expected


def test_safety_has_raw_sweeps_and_events(runs):
    # Of each 75: 60 episodes with 1 sweep in 1 event, 15 with 438 in 2 (low, medium) or 3 (high).
    assert 'oracle 88.4 and 1.27' in runs['paper']['events'].alt
    assert '438 / 3' in texts(runs['paper']['events'])


def test_the_window_has_a_line_of_events(runs):
    assert 'llm W 1 4, W 5 2, W 10 2, W 15 2, W 30 1, W 60 1' in runs['paper']['window'].alt
    assert 'From 225 recordings of 225 episodes' in runs['paper']['window'].caption


def test_the_schedules_stand_beside_each_other(runs):
    assert 'control of llm 438 and 62' in runs['paper']['scans'].alt
    assert "the paper's 62 looks" in texts(runs['paper']['scans'])


def test_where_no_rule_was_broken_safety_is_left_out():
    rows = [
        row.model_copy(update={'safety': row.safety.model_copy(update={'raw_sweeps': 0})})
        for row in twin_run()
    ]
    found = drawn(rows, safety=watched(rows, raw=0))
    assert not {'events', 'window', 'scans'} & set(found)


def test_cost_is_of_each_success(runs):
    # 75 episodes of 770 + 249 tokens and 15.6 s for 33 successes.
    assert 'llm tokens 2315.9, planner [s] 35.5' in runs['single arm']['cost'].alt


def test_an_arm_that_never_succeeds_has_no_cost():
    rows = [row for row in paper_run(('llm',)) if row.success is False]
    assert 'llm never succeeded' in drawn(rows)['cost'].alt


def test_attempts_are_accounted_for_by_how_they_ended(runs):
    rows = paper_run(('llm',))
    found = drawn([aborted(rows[0], 'timeout: plan'), *rows])['attempts']
    assert 'llm 76, of them 33 successes, 42 failures, 1 aborted, 1 superseded' in found.alt
    assert {'aborted: timeout', 'failed: plan_rejected', '76', '33'} <= set(texts(found))
    assert 'not attempted' in texts(runs['nothing yet']['attempts'])


def test_what_a_reason_says_is_shown_and_nothing_more():
    row = twin_run(('oracle',), 1)[0]
    for reason in ('$a_b$ <x> & "y": z', '漢\ud800\x1b[31m\x00: z'):
        found = drawn([aborted(row, reason)])['attempts']
        assert any(text.startswith('aborted: ') for text in texts(found))
    assert 'aborted: $a_b$ <x> & "y"' in texts(
        drawn([aborted(row, '$a_b$ <x> & "y": z')])['attempts']
    )


def test_episodes_that_were_not_planned_are_in_no_figure():
    rows = twin_run(('oracle',), 2)
    planned = [Planned(row.run_id, row.arm, row.condition) for row in rows[:2]]
    found = drawn(rows, planned)
    assert 'sensor_noise' not in ' '.join(texts(found['error']))


def test_a_half_finished_run_is_drawn_as_far_as_it_is():
    everything = paper_run()
    planned = [Planned(row.run_id, row.arm, row.condition) for row in everything]
    lagging = [row for row in paper_run(('oracle',)) if row.condition.startswith('sensor_lag')]
    found = drawn(lagging, planned)
    assert {'success', 'lag', 'error', 'cost', 'attempts'} <= set(found)
    assert 'llm 0/0' in found['success'].alt
    assert 'llm' not in found['lag'].alt
    assert texts(found['success']).count('no result') == 42 - 3
    assert 'not attempted' in texts(found['attempts'])


def test_a_legend_of_many_long_names_stays_within_the_figure():
    arms = ('llm', *(f'{kind}_closed_loop_retry' for kind in ('llm', 'regrasp', 'replan')))
    picture = drawn(twin_run(arms, 2))['success']
    root = ElementTree.fromstring(picture.svg)
    width = float(root.get('viewBox').split()[2])
    for item in root.iter('{http://www.w3.org/2000/svg}text'):
        if (item.text or '').endswith('_closed_loop_retry'):
            # A letter of DejaVu Sans is about 0.6 of its size wide.
            assert float(item.get('x')) + 0.6 * 8.5 * len(item.text) < width + 5
