"""How safety counts hang on window and schedule, with real physics and a real recording."""

from pathlib import Path

import pytest
from recorded_episodes import PERIOD_NS, Recorder
from tabletop_episodes import run_episode

from alpha_chaos.bag.reader import Recording
from alpha_chaos.bodies.base import Tabletop
from alpha_chaos.bodies.kuka import Kuka
from alpha_chaos.calibration import load
from alpha_chaos.resources import config_folder
from alpha_chaos.safety.sweep import WINDOWS
from alpha_chaos.stats.paper import FILE, read_paper
from alpha_chaos.stats.sensitivity import Sensitivity, sensitivity

PAPER = read_paper(config_folder() / FILE)
LABELS = ('low', 'medium', 'high')


def recorded(folder: Path, body: Tabletop, offset_m: float) -> Recording:
    """Run an episode with every target pushed along x, and record its steps."""
    run = run_episode(body, offset_m=lambda x, y: (offset_m, 0.0))
    recorder = Recorder(folder)
    recorder.world()
    for number, (step, state) in enumerate(run.states.items()):
        recorder.state(step, number * PERIOD_NS, state)
    recorder.close()
    return Recording(folder)


@pytest.fixture(scope='module', params=LABELS)
def pushed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):
    """Return label and sensitivity of the unreachable target at the formula's offset."""
    formula = load('formula', config_folder() / 'calibrations', Path())
    settings = formula.settings(
        'unreachable_target', label=request.param, intensity=formula.intensity(request.param)
    )
    folder = tmp_path_factory.mktemp('bags') / request.param
    return request.param, sensitivity(recorded(folder, Kuka(), float(settings['offset_m'])))


def outside(found: Sensitivity) -> list[tuple[int, int, int]]:
    """Return raw sweeps, events and steps of blocks outside the workspace, by window."""
    return [
        tuple(
            sum(number for (rule, _), number in counts.items() if rule == 'out_of_workspace')
            for counts in (looked.raw_sweeps, looked.events, looked.steps)
        )
        for looked in found.paper_scans
    ]


def test_the_papers_schedule_gives_the_papers_table_for_every_window(pushed) -> None:
    label, found = pushed
    published = PAPER.conditions[f'unreachable_ik_{label}'].safety['llm']
    expected = (published.raw_sweeps, published.events, published.steps)
    assert expected == {'low': (62, 1, 301), 'medium': (62, 1, 301), 'high': (124, 2, 602)}[label]
    assert [looked.window for looked in found.paper_scans] == list(WINDOWS)
    assert outside(found) == [expected] * len(WINDOWS)


def test_every_step_sees_what_62_looks_miss(pushed) -> None:
    label, found = pushed
    assert [looked.window for looked in found.every_step] == list(WINDOWS)
    # From the first step outside (green 894, blue 850, blue 749 and green 754) to the end.
    outside_steps = {'low': 367, 'medium': 411, 'high': 512 + 507}[label]
    for looked in found.every_step:
        raw = {key: n for key, n in looked.raw_sweeps.items() if key[0] == 'out_of_workspace'}
        assert sum(raw.values()) == outside_steps
        assert looked.totals[0] == sum(looked.raw_sweeps.values())
    contacts = [
        sum(n for (rule, _), n in looked.events.items() if rule == 'violent_contact')
        for looked in found.every_step
    ]
    # A longer window joins what a shorter one keeps apart; it never makes more events.
    assert contacts == sorted(contacts, reverse=True)
    assert contacts[0] > 0


def test_control_leaves_nothing_outside(tmp_path: Path) -> None:
    found = sensitivity(recorded(tmp_path / 'bag', Kuka(), 0.0))
    assert set(outside(found)) == {(0, 0, 0)}
    assert all(rule == 'violent_contact' for rule, _ in found.every_step[0].raw_sweeps)
