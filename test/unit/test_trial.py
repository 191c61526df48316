"""The course of a trial on virtual time: what is found, and that everything is undone."""

import pytest
from trial_double import DROP, Graph, conduct, settings

from alpha_chaos.probes.base import Finding, Probe, TopicSource, Watch
from alpha_chaos.probes.config import Step
from alpha_chaos.probes.node_alive import NodeAlive
from alpha_chaos.probes.topic_rate import TopicRate
from alpha_chaos.probes.trial import Armed, Orphan, Refused

RATE = TopicRate(topic='scan', min_hz=8.0, window_s=0.5)
ALIVE = NodeAlive(node='/talker')


def stop(graph):
    graph.trial.stop()


def lose_relay(graph):
    graph.relay = False


def at(graph, event):
    """Return when something happened [s]."""
    return [time_s for time_s, what in graph.history if what == event]


def verdicts(outcome):
    return {key: finding.verdict for key, finding in outcome.findings.items()}


# -- the verdict


def test_a_graph_that_does_not_mind_the_fault_has_held():
    graph = Graph()
    outcome = conduct(graph, settings({'talker': ALIVE}))
    assert (outcome.verdict, outcome.reason, outcome.stopped) == ('held', '', False)
    assert verdicts(outcome) == {
        ('before', 'talker'): 'held',
        ('during', 'talker'): 'held',
        ('after', 'talker'): 'held',
    }
    # 10 Hz for 3 s; one that comes at the very end still meets the fault.
    assert outcome.struck[0] in (30, 31)
    assert graph.faults == {}


def test_the_fault_is_there_for_as_long_as_it_was_asked_for():
    graph = Graph()
    conduct(graph, settings({'talker': ALIVE}))
    assert at(graph, 'armed') == pytest.approx([2.0])
    assert at(graph, 'disarmed') == pytest.approx([5.0])


def test_a_rate_that_the_fault_brings_down_has_deviated_and_comes_back():
    outcome = conduct(Graph(), settings({'rate': RATE}))
    assert outcome.verdict == 'deviated'
    assert outcome.reason == 'during: rate: 0 Hz, below 8 Hz'
    assert verdicts(outcome) == {
        ('before', 'rate'): 'held',
        ('during', 'rate'): 'deviated',
        ('after', 'rate'): 'held',
    }


def test_a_deviation_ends_the_faults_at_once():
    graph = Graph()
    conduct(graph, settings({'rate': RATE}))
    # The first window of 0.5 s without a message ends 0.5 s after the fault began.
    assert at(graph, 'disarmed') == pytest.approx([2.5], abs=0.11)


def test_a_deviation_ends_nothing_if_it_is_not_to():
    graph = Graph()
    outcome = conduct(graph, settings({'rate': RATE}, undo_at_once=False))
    assert outcome.verdict == 'deviated'
    assert at(graph, 'disarmed') == pytest.approx([5.0])


def test_what_deviates_only_afterwards_has_deviated():
    def fall_silent(graph):
        graph.scans = False

    probe = RATE.model_copy(update={'phases': ('before', 'after')})
    outcome = conduct(Graph({5.5: fall_silent}), settings({'rate': probe}))
    assert verdicts(outcome) == {('before', 'rate'): 'held', ('after', 'rate'): 'deviated'}
    assert outcome.verdict == 'deviated'


def test_a_graph_that_needs_time_to_recover_gets_it():
    def wake(graph):
        graph.scans = True

    def fall_silent(graph):
        graph.scans = False

    probe = RATE.model_copy(update={'phases': ('before', 'after')})
    events = {4.0: fall_silent, 5.9: wake}
    assert conduct(Graph(dict(events)), settings({'rate': probe})).verdict == 'held'
    short = settings({'rate': probe}, settle_s=0.0)
    assert conduct(Graph(dict(events)), short).verdict == 'deviated'


def test_a_graph_that_is_not_steady_before_is_left_alone():
    graph = Graph()
    graph.scans = False
    outcome = conduct(graph, settings({'rate': RATE, 'talker': ALIVE}))
    assert outcome.verdict == 'unknown'
    assert outcome.reason == (
        'it was not in its steady state, so nothing was done: '
        'before: rate: 0 Hz, below 8 Hz; nobody publishes it'
    )
    assert graph.history == []


def test_a_fault_that_had_nothing_to_strike_proves_nothing():
    graph = Graph()
    graph.strikes = False
    outcome = conduct(graph, settings({'rate': RATE}))
    assert (outcome.verdict, outcome.struck) == ('unknown', (0,))
    assert outcome.reason == 'there was nothing for drop to strike'


def test_steps_come_and_go_at_their_times():
    graph = Graph()
    method = (Step(DROP, for_s=1.0), Step({**DROP, 'probability': 0.5}, for_s=1.0, start_s=1.5))
    outcome = conduct(graph, settings({'talker': ALIVE}, method=method))
    assert outcome.verdict == 'held'
    assert at(graph, 'armed') == pytest.approx([2.0, 3.5], abs=0.11)
    assert at(graph, 'disarmed') == pytest.approx([3.0, 4.5], abs=0.11)


# -- whatever happens


def test_a_trial_that_is_stopped_is_undone_and_knows_nothing():
    graph = Graph({3.03: stop})
    outcome = conduct(graph, settings({'talker': ALIVE}))
    assert (outcome.verdict, outcome.reason, outcome.stopped) == (
        'unknown',
        'it was stopped',
        True,
    )
    assert verdicts(outcome) == {('before', 'talker'): 'held', ('during', 'talker'): 'unknown'}
    assert outcome.findings['during', 'talker'].reason == 'the phase was cut short'
    assert graph.faults == {}
    assert at(graph, 'disarmed') == pytest.approx([3.1], abs=0.11)


def test_a_deviation_seen_before_the_stop_counts():
    outcome = conduct(Graph({3.03: stop}), settings({'rate': RATE}, undo_at_once=False))
    assert (outcome.verdict, outcome.stopped) == ('deviated', True)


@pytest.mark.parametrize('moment_s', [0.5, 5.3, 7.0])
def test_a_trial_can_be_stopped_in_every_phase(moment_s):
    graph = Graph({moment_s: stop})
    outcome = conduct(graph, settings({'talker': ALIVE}))
    assert (outcome.verdict, outcome.stopped) == ('unknown', True)
    assert graph.faults == {}
    assert graph.time_s < moment_s + 0.2


def test_the_death_of_the_relay_is_no_deviation_of_the_robot():
    def die(graph):
        graph.relay = False
        graph.faults.clear()
        graph.scans = False  # what passed the relay does so no more

    graph = Graph({4.05: die})
    graph.strikes = False
    outcome = conduct(graph, settings({'talker': ALIVE, 'rate': RATE}))
    assert outcome.findings['during', 'rate'].verdict == 'deviated'
    assert outcome.verdict == 'unknown'
    assert 'the relay does not answer' in outcome.reason
    assert '1 of its faults may still be armed' in outcome.reason
    assert outcome.left == (DROP,)


def test_a_relay_that_was_silent_for_a_moment_is_asked_again():
    def come_back(graph):
        graph.relay = True

    graph = Graph({4.05: lose_relay, 4.3: come_back})
    outcome = conduct(graph, settings({'talker': ALIVE}))
    assert outcome.verdict == 'held'
    graph = Graph({4.95: lose_relay, 5.15: come_back})
    assert conduct(graph, settings({'talker': ALIVE})).left == ()
    assert graph.faults == {}


def test_a_relay_that_somebody_resets_meanwhile_spoils_the_trial():
    outcome = conduct(Graph({3.05: lambda graph: graph.faults.clear()}), settings({'a': ALIVE}))
    assert outcome.verdict == 'unknown'
    assert outcome.reason == 'the relay has no fault of ours any more: somebody took it away'
    assert outcome.left == ()


def test_a_fault_whose_answer_was_lost_is_found_and_taken_back():
    graph = Graph()
    graph.faults = {}
    graph.answers_get_lost = True
    outcome = conduct(graph, settings({'talker': ALIVE}))
    assert (outcome.verdict, outcome.left) == ('unknown', ())
    assert at(graph, 'armed')
    assert at(graph, 'disarmed')
    assert graph.faults == {}


def test_faults_of_others_are_left_alone():
    graph = Graph()
    graph.strikes = False
    graph.answers_get_lost = True
    graph.faults = {77: Armed(DROP, 0)}
    conduct(graph, settings({'talker': ALIVE}))
    assert list(graph.faults) == [77]


def test_what_a_killed_trial_has_left_is_taken_away_first():
    graph, lines = Graph(), []
    theirs = {**DROP, 'probability': 0.25}
    graph.faults = {3: Armed(DROP, 9), 4: Armed(theirs, 0), 5: Armed(DROP, 0)}
    graph.strikes = False
    left = [Orphan(1, 0, DROP, 3), Orphan(1, 1, DROP, 4), Orphan(2, 0, DROP, 8)]
    conduct(graph, settings({'talker': ALIVE}), lines.append, orphans=left)
    assert sorted(graph.faults) == [4, 5]  # 4 is another fault: the relay was started anew
    told = [line for line in lines if line['event'] == 'orphan_undone']
    assert [(line['of_run'], line['step'], line['found']) for line in told] == [
        (1, 0, True),
        (1, 1, False),
        (2, 0, False),
    ]


def test_what_was_armed_by_one_who_was_killed_in_that_moment_is_found_by_its_settings():
    graph = Graph()
    graph.faults = {3: Armed(DROP, 0), 4: Armed({**DROP, 'probability': 0.25}, 0)}
    graph.strikes = False
    conduct(graph, settings({'talker': ALIVE}), orphans=[Orphan(1, 0, DROP)])
    assert sorted(graph.faults) == [4]


def test_a_fault_that_the_relay_refuses_ends_the_trial_and_those_before_it_are_undone():
    class Choosy(Graph):
        async def arm(self, fault):
            if fault['probability'] < 1:
                raise Refused('injection is off')
            return await super().arm(fault)

    graph = Choosy()
    method = (Step(DROP, for_s=2.0), Step({**DROP, 'probability': 0.5}, for_s=1.0))
    outcome = conduct(graph, settings({'talker': ALIVE}, method=method))
    assert (outcome.verdict, outcome.reason) == ('unknown', 'injection is off')
    assert graph.faults == {}


class Broken(Probe):
    """Fails at whatever it sees, or at judging."""

    kind: str = 'broken'
    judges: bool = True

    @property
    def source(self):
        return TopicSource('scan')

    def watch(self, start_s):
        return _Broken(self.judges)


class _Broken(Watch):
    def __init__(self, judges):
        self.judges = judges

    def on_senders(self, count):
        if self.judges:
            raise KeyError('no such thing')

    def judge(self, now_s):
        if not self.judges:
            raise ZeroDivisionError
        return Finding('held')


@pytest.mark.parametrize(('judges', 'words'), [(True, 'KeyError'), (False, 'ZeroDivisionError')])
def test_a_probe_that_fails_does_not_know_and_harms_nobody(judges, words):
    probes = {'rate': Broken(judges=judges, phases=('during',)), 'talker': ALIVE}
    graph = Graph()
    outcome = conduct(graph, settings(probes))
    assert outcome.verdict == 'unknown'
    assert words in outcome.reason
    assert outcome.findings['during', 'talker'].verdict == 'held'
    assert graph.faults == {}


# -- the journal


def test_the_undo_is_written_down_before_the_fault_is_armed():
    graph, lines = Graph(), []

    def record(line):
        lines.append((line['event'], dict(graph.faults)))

    conduct(graph, settings({'talker': ALIVE}), record)
    assert [event for event, _ in lines] == [
        'begun',
        'phase',
        'finding',
        'phase',
        'undo_registered',
        'fault_armed',
        'finding',
        'fault_undone',
        'phase',
        'finding',
        'ended',
    ]
    assert dict(lines)['undo_registered'] == {}
    assert len(dict(lines)['fault_armed']) == 1


def test_a_fault_that_cannot_be_written_down_is_not_armed():
    def record(line):
        if line['event'] == 'undo_registered':
            raise OSError(28, 'No space left on device')

    graph = Graph()
    outcome = conduct(graph, settings({'talker': ALIVE}), record)
    assert outcome.verdict == 'unknown'
    assert 'No space left on device' in outcome.reason
    assert graph.history == []


def test_a_disk_that_fills_up_keeps_no_fault_armed():
    def record(line):
        if line['event'] not in ('begun', 'phase', 'undo_registered'):
            raise OSError(28, 'No space left on device')

    graph = Graph()
    outcome = conduct(graph, settings({'talker': ALIVE}), record)
    assert outcome.verdict == 'unknown'
    assert 'No space left on device' in outcome.reason
    assert graph.faults == {}
