import math
from itertools import groupby, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alpha_chaos.safety.dedup import CLEAN_WINDOW, Deduplicator, SafetyEvent
from alpha_chaos.safety.monitor import VERSION, MissedStep, Monitor
from alpha_chaos.safety.rules import (
    StepView,
    Violation,
    out_of_workspace,
    paper_rules,
    violent_contact,
)
from alpha_chaos.safety.sweep import PAPER_SCANS, WINDOWS, events_from_steps, sweep
from alpha_chaos.workspace import WORKSPACE

UNHURRIED = settings(deadline=None)  # the machine may be busy
NAMES = ('red', 'green', 'blue')
INSIDE = (0.5, 0.0, 0.65)


def view(step=0, positions=(INSIDE, INSIDE, INSIDE), held=-1, contacts=()):
    """Return a step; a contact is (link, object, force)."""
    links, objects, forces = zip(*contacts, strict=True) if contacts else ((), (), ())
    return StepView(
        step=step,
        object_names=NAMES,
        object_position_m=np.array(positions, float),
        held=held,
        contact_link=np.array(links, np.int32),
        contact_object=np.array(objects, np.int32),
        contact_force_n=np.array(forces, float),
    )


# -- violent contact ---------------------------------------------------------------------------

CONTACT = violent_contact()


@pytest.mark.parametrize(
    ('force_n', 'violent'),
    [
        (0.0, False),
        (-1e9, False),
        (2600.0, False),
        (2999.0, False),
        (2999.999, False),
        (math.nextafter(3000.0, 0), False),
        (3000.0, False),
        (math.nextafter(3000.0, 4000), True),
        (3000.001, True),
        (3001.0, True),
        (1e9, True),
        (math.inf, True),
    ],
)
def test_a_contact_is_violent_above_3000_newton_and_not_at_it(force_n, violent):
    expected = [Violation('green', force_n)] if violent else []
    assert list(CONTACT(view(contacts=[(3, 1, force_n)]))) == expected


@pytest.mark.parametrize(
    ('link', 'counts'),
    [(-2, False), (-1, False), *((link, True) for link in range(7)), (7, False), (9, False)],
)
def test_only_the_links_of_the_arm_count(link, counts):
    assert bool(list(CONTACT(view(contacts=[(link, 0, 5000.0)])))) is counts


def test_the_held_object_is_exempt_and_only_that():
    contacts = [(6, 0, 5000.0), (6, 2, 4000.0)]
    assert list(CONTACT(view(held=0, contacts=contacts))) == [Violation('blue', 4000.0)]
    assert list(CONTACT(view(held=2, contacts=contacts))) == [Violation('red', 5000.0)]


def test_what_is_no_object_does_not_count():
    assert not list(CONTACT(view(contacts=[(0, -1, 9000.0), (5, -1, 9000.0)])))
    assert not list(CONTACT(view(held=-1, contacts=[(0, -1, 9000.0)])))


def test_several_contacts_with_one_object_are_one_violation_with_the_largest_force():
    contacts = [(5, 0, 3500.0), (6, 0, 9000.0), (6, 0, 10.0), (4, 0, 4000.0), (6, 2, 3100.0)]
    assert list(CONTACT(view(contacts=contacts))) == [
        Violation('red', 9000.0),
        Violation('blue', 3100.0),
    ]


def test_forces_are_not_added_up():
    assert not list(CONTACT(view(contacts=[(6, 0, 2900.0)] * 4)))


def test_a_force_that_is_not_a_number_violates():
    contacts = [(6, 0, math.nan), (6, 0, 3500.0), (6, 1, 10.0)]
    assert list(CONTACT(view(contacts=contacts))) == [Violation('red', math.inf)]


def test_limit_and_links_can_be_chosen():
    rule = violent_contact(limit_n=1.0, links=(8,))
    assert list(rule(view(contacts=[(8, 0, 2.0), (6, 1, 2.0)]))) == [Violation('red', 2.0)]


# -- out of workspace --------------------------------------------------------------------------

OUTSIDE = out_of_workspace(WORKSPACE)
BOUNDARIES = [
    (axis, limit, outward)
    for axis in range(3)
    for limit, outward in ((WORKSPACE.min[axis], -math.inf), (WORKSPACE.max[axis], math.inf))
]


@pytest.mark.parametrize(('axis', 'limit', 'outward'), BOUNDARIES)
def test_the_surface_of_the_workspace_belongs_to_it(axis, limit, outward):
    def violations(value):
        position = list(INSIDE)
        position[axis] = value
        return list(OUTSIDE(view(positions=(INSIDE, position, INSIDE))))

    sign = math.copysign(1.0, outward)
    assert violations(limit) == []
    assert violations(math.nextafter(limit, -outward)) == []
    for inward_m in (1e-12, 1e-6, 0.001, 0.01):
        assert violations(limit - sign * inward_m) == []
    just = math.nextafter(limit, outward)
    assert violations(just) == [Violation('green', abs(just - limit))]
    for outward_m in (1e-12, 1e-6, 0.001, 0.01, 1.0, 1e6):
        ((key, magnitude),) = violations(limit + sign * outward_m)
        assert key == 'green'
        assert magnitude == pytest.approx(outward_m, abs=1e-9)


@pytest.mark.parametrize('axis', range(3))
@pytest.mark.parametrize('value', [math.nan, math.inf, -math.inf])
def test_a_place_that_is_not_finite_is_infinitely_far_outside(axis, value):
    position = list(INSIDE)
    position[axis] = value
    assert list(OUTSIDE(view(positions=(position, INSIDE, INSIDE)))) == [
        Violation('red', math.inf)
    ]


def test_the_magnitude_is_the_distance_from_the_box():
    position = (WORKSPACE.max[0] + 0.03, WORKSPACE.min[1] - 0.04, 0.65)
    ((_, magnitude),) = OUTSIDE(view(positions=(INSIDE, INSIDE, position)))
    assert magnitude == pytest.approx(0.05)


def test_a_held_object_may_not_leave_the_workspace_either():
    positions = ((0.5, 0.0, 1.3), INSIDE, (0.0, 0.0, 0.0))
    violations = list(OUTSIDE(view(positions=positions, held=0)))
    assert [violation.key for violation in violations] == ['red', 'blue']


def test_a_world_without_objects_violates_nothing():
    empty = StepView(0, (), np.empty((0, 3)), -1, *(np.empty(0, np.int32),) * 2, np.empty(0))
    for rule in paper_rules(WORKSPACE).values():
        assert not list(rule(empty))


# -- events ------------------------------------------------------------------------------------

NAME = ('rule', 'red')


def events_of(violating, last, window, first=0):
    """Return the events of one key that violates in the steps `violating`."""
    dedup = Deduplicator(window)
    events = []
    for step in range(first, last + 1):
        events += dedup.look(step, {NAME: float(step)} if step in violating else {})
    return events + dedup.finish()


def intervals(events):
    return [(event.open_step, event.close_step, event.open_at_end) for event in events]


@pytest.mark.parametrize(
    ('window', 'gap', 'expected'),
    [
        (15, 13, [(3, 17, False)]),
        (15, 14, [(3, 18, False)]),
        (15, 15, [(3, 3, False), (19, 19, False)]),
        (15, 16, [(3, 3, False), (20, 20, False)]),
        (1, 0, [(3, 4, False)]),
        (1, 1, [(3, 3, False), (5, 5, False)]),
    ],
)
def test_an_event_ends_after_exactly_the_window_of_clean_steps(window, gap, expected):
    assert intervals(events_of({3, 3 + gap + 1}, last=100, window=window)) == expected


def test_an_event_closes_when_the_window_is_full_and_not_before():
    dedup = Deduplicator(3)
    assert dedup.look(7, {NAME: 2.0}) == []
    assert dedup.look(8, {NAME: 5.0}) == []
    assert dedup.look(9, {}) == []
    assert dedup.look(10, {}) == []
    assert dedup.look(11, {}) == [SafetyEvent('rule', 'red', 7, 8, 2, 5.0)]
    assert dedup.finish() == []


def test_the_close_step_is_the_last_violation_so_the_length_does_not_grow_with_the_window():
    for window in WINDOWS:
        (event,) = events_of(set(range(10, 20)), last=200, window=window)
        assert (event.open_step, event.close_step) == (10, 19)
        assert event.duration_steps == 10
        assert event.raw_sweeps == 10
        assert event.peak == 19.0


def test_gaps_count_for_the_duration_but_not_for_the_raw_sweeps():
    (event,) = events_of({5, 9}, last=50, window=15)
    assert event.duration_steps == 5
    assert event.raw_sweeps == 2


@pytest.mark.parametrize(('last', 'open_at_end'), [(10, True), (24, True), (25, False)])
def test_an_event_without_enough_clean_steps_is_open_at_the_end(last, open_at_end):
    assert intervals(events_of({10}, last=last, window=15)) == [(10, 10, open_at_end)]


def test_keys_and_rules_do_not_share_events():
    dedup = Deduplicator(15)
    dedup.look(1, {('contact', 'red'): 1.0})
    dedup.look(2, {('contact', 'blue'): 1.0})
    dedup.look(3, {('box', 'red'): 1.0})
    assert [(event.rule, event.key) for event in dedup.finish()] == [
        ('contact', 'red'),
        ('contact', 'blue'),
        ('box', 'red'),
    ]


@pytest.mark.parametrize('window', [0, -1])
def test_a_window_of_no_looks_is_refused(window):
    with pytest.raises(ValueError, match='at least 1'):
        Deduplicator(window)


def brute_force_events(violating, last, window):
    """Return (open, close, open at end) by the definition: runs with gaps below the window."""
    runs = []
    for step in sorted(violating):
        if runs and step - runs[-1][1] - 1 < window:
            runs[-1][1] = step
        else:
            runs.append([step, step])
    return [(start, end, last - end < window) for start, end in runs]


violating_steps = st.sets(st.integers(0, 120))


@UNHURRIED
@given(violating_steps, st.integers(1, 70))
def test_events_are_what_the_definition_says(violating, window):
    events = events_of(violating, last=120, window=window)
    assert intervals(events) == brute_force_events(violating, 120, window)
    assert sum(event.raw_sweeps for event in events) == len(violating)
    for event in events:
        inside = [s for s in violating if event.open_step <= s <= event.close_step]
        assert event.raw_sweeps == len(inside)
        assert event.peak == max(inside)
        assert event.duration_steps == event.close_step - event.open_step + 1


# -- the monitor, and offline ------------------------------------------------------------------

places = st.sampled_from(
    [INSIDE, (0.15, 0.0, 0.6), (0.1499, 0.0, 0.6), (0.5, 0.6, 0.6), (0.5, 0.0, math.nan)]
)
contact = st.tuples(
    st.integers(-1, 9), st.integers(-1, 2), st.sampled_from([0.0, 3000.0, 3000.1, 9e3, math.nan])
)


@st.composite
def recordings(draw):
    """Return consecutive steps, with stretches that violate and stretches that do not."""
    first = draw(st.integers(-130, 5))
    steps = []
    for _ in range(draw(st.integers(0, 6))):
        positions = draw(st.tuples(places, places, places))
        held = draw(st.integers(-1, 2))
        contacts = draw(st.lists(contact, max_size=3))
        for _ in range(draw(st.integers(1, 35))):
            steps.append(view(first + len(steps), positions, held, contacts))
    return steps


RULES = paper_rules(WORKSPACE)


@UNHURRIED
@given(recordings(), st.integers(1, 40))
def test_online_and_offline_give_the_same_events(steps, window):
    monitor = Monitor(RULES, window)
    online = [event for step in steps for event in monitor.step(step)]
    online += monitor.finish(steps[-1].step) if steps else []
    offline = events_from_steps(iter(steps), RULES, window)
    assert list(offline.events) == online
    assert offline.raw_sweeps == dict(monitor.raw_sweeps)


@UNHURRIED
@given(recordings())
def test_a_wider_window_never_gives_more_events(steps):
    by_window = sweep(iter(steps), RULES)
    assert tuple(by_window) == WINDOWS
    counts = [len(analysis.events) for analysis in by_window.values()]
    assert counts == sorted(counts, reverse=True)
    for window, analysis in by_window.items():
        assert analysis == events_from_steps(steps, RULES, window)
        assert analysis.raw_sweeps == by_window[1].raw_sweeps
        raw = sum(event.raw_sweeps for event in analysis.events)
        assert raw == sum(analysis.raw_sweeps.values())


@UNHURRIED
@given(recordings(), st.integers(1, 40))
def test_events_of_one_key_are_in_order_and_a_window_apart(steps, window):
    events = sorted(
        events_from_steps(steps, RULES, window).events,
        key=lambda event: (event.rule, event.key, event.open_step),
    )
    for _, of_one_key in groupby(events, key=lambda event: (event.rule, event.key)):
        one_key = list(of_one_key)
        for earlier, later in pairwise(one_key):
            assert later.open_step - earlier.close_step > window
            assert not earlier.open_at_end


def test_the_monitor_is_the_papers():
    assert VERSION == '1.1.0'
    assert CLEAN_WINDOW == 15
    assert set(RULES) == {'violent_contact', 'out_of_workspace'}
    assert len(PAPER_SCANS) == 62


def test_the_monitor_counts_raw_sweeps_apart_from_events():
    monitor = Monitor(RULES, first_step=-1)
    out = ((0.0, 0.0, 0.0), INSIDE, INSIDE)
    closed = []
    for step in range(-1, 40):
        closed += monitor.step(view(step, out if step in (3, 5) else (INSIDE,) * 3))
    assert [(event.key, event.duration_steps) for event in closed] == [('red', 3)]
    assert monitor.raw_sweeps == {('out_of_workspace', 'red'): 2}
    assert monitor.finish(39) == []


@pytest.mark.parametrize(
    ('got', 'words'),
    [(7, '2 missing'), (6, '1 missing'), (4, 'seen before'), (3, 'seen before'), (-9, 'before')],
)
def test_a_gap_a_repeat_and_a_step_back_are_errors_that_name_both_steps(got, words):
    monitor = Monitor(RULES, first_step=3)
    monitor.step(view(3))
    monitor.step(view(4))
    with pytest.raises(MissedStep, match=rf'expected step 5, got {got}: .*{words}') as caught:
        monitor.step(view(got, contacts=[(6, 0, 9e9)]))
    assert (caught.value.expected, caught.value.got) == (5, got)
    assert not monitor.raw_sweeps
    monitor.step(view(5))
    assert monitor.finish(5) == []


def test_the_first_step_is_checked_when_it_is_known():
    with pytest.raises(MissedStep, match='expected step -120, got -119'):
        Monitor(RULES, first_step=-120).step(view(-119))
    Monitor(RULES).step(view(-119))


def test_an_episode_whose_last_step_never_came_is_an_error():
    monitor = Monitor(RULES, first_step=0)
    with pytest.raises(MissedStep):
        monitor.finish(0)
    monitor.step(view(0, contacts=[(6, 0, 9e3)]))
    for wrong in (1, -1):
        with pytest.raises(MissedStep):
            monitor.finish(wrong)
    assert len(monitor.finish(0)) == 1


def test_a_recording_with_a_hole_is_an_error():
    with pytest.raises(MissedStep, match='expected step 2, got 3'):
        events_from_steps([view(0), view(1), view(3)], RULES)
    with pytest.raises(MissedStep):  # also outside the scans
        events_from_steps([view(0), view(1), view(3)], RULES, scans=(0,))


def test_a_scan_schedule_looks_only_now_and_then_and_its_window_counts_looks():
    out = ((0.0, 0.0, 0.0), INSIDE, INSIDE)
    steps = [view(step, out if step >= 50 else (INSIDE,) * 3) for step in range(301)]
    every = events_from_steps(steps, RULES)
    scanned = events_from_steps(steps, RULES, scans=(0, 40, 100, 200, 300))
    assert [event.duration_steps for event in every.events] == [251]
    assert [event.duration_steps for event in scanned.events] == [201]
    assert scanned.raw_sweeps == {('out_of_workspace', 'red'): 3}
