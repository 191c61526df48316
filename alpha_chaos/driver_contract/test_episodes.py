"""The protocol of episodes, for drivers that serve ~/reset; others need nothing of it."""

import json

import pytest

from alpha_chaos.driver_contract.probe import LOOK_STEPS, Probe
from alpha_chaos.nodes.clock import to_nanoseconds, to_time
from alpha_chaos.srv import Advance


@pytest.fixture(autouse=True)
def _takes_episodes(probe: Probe) -> None:
    if not probe.takes_episodes:
        pytest.skip(f'{probe.name} has no ~/reset: it takes part in no episodes')


def test_begins_attempts(probe: Probe) -> None:
    """~/reset begins an attempt: `world` describes it, and the first state is of time 0."""
    probe.begin()
    probe.until(lambda: probe.heard['world'], 'a message on world')
    probe.until(lambda: probe.heard['step_state'], 'a message on step_state')
    world, first = probe.latest('world'), probe.heard['step_state'][0]
    assert world.episode_id == first.episode_id == probe.episode_id, 'another episode_id'
    assert first.step == world.first_step, f'first step {first.step}, not {world.first_step}'
    assert to_nanoseconds(first.header.stamp) == 0, 'the first state is not of time 0'
    assert world.step_period > 0, f'step_period is {world.step_period}'
    assert len(first.joint_position) == len(world.joint_names), 'joints without names'
    assert len(first.object_pose) == 7 * len(world.object_names), 'objects without names'


def test_numbers_every_step(probe: Probe) -> None:
    """Every step is on `step_state` once, in order, one period after the one before."""
    probe.begin()
    probe.move(probe.place(0.3))
    sent = counts(probe.advance(LOOK_STEPS), probe)['step_state']
    states = probe.heard['step_state']
    probe.until(lambda: len(states) >= sent, f'{sent} messages on step_state')
    world = probe.latest('world')
    steps = [state.step for state in states]
    assert steps == list(range(world.first_step, world.first_step + len(steps))), (
        'steps are missing'
    )
    for state in states:
        due = to_time((state.step - world.first_step) * world.step_period)
        assert abs(to_nanoseconds(state.header.stamp) - to_nanoseconds(due)) <= 1, (
            f'step {state.step} is stamped {state.header.stamp}'
        )


def test_stands_still_unless_told(probe: Probe) -> None:
    """No simulated time passes but in a motion, a grip or ~/advance."""
    probe.begin()
    before = len(probe.heard['step_state'])
    probe.pause(0.3)
    probe.advance(0)
    more = len(probe.heard['step_state']) - before
    assert not more, f'{more} steps passed by themselves'


def test_refuses_goals_of_other_attempts(probe: Probe) -> None:
    """A goal or an ~/advance with another episode_id is refused."""
    probe.begin()
    foreign = probe.move(probe.place(), episode_id='check_driver/nobody#1')
    assert not foreign.accepted or not foreign.result.reached, f'a goal of another: {foreign}'
    answer = probe.ask(Advance, 'advance', episode_id='check_driver/nobody#1', steps=1)
    assert not answer.ok, 'an ~/advance of another attempt was carried out'
    assert answer.message, 'an ~/advance of another attempt was refused without a message'


def test_counts_what_it_sends(probe: Probe) -> None:
    """~/advance and ~/finish say how much was sent; ~/finish reports digest and last step."""
    probe.begin()
    answer = probe.advance(LOOK_STEPS)
    sent = counts(answer, probe)
    for topic, heard in probe.heard.items():
        assert sent.get(topic) == len(heard), f'{topic}: {len(heard)} came, {sent.get(topic)} sent'
    refused = probe.await_count('/no_such_topic', 0)
    assert not refused.ok, '~/await_count knows a topic that there is not'
    assert not probe.finish('check_driver/nobody#1').ok, 'it finished an attempt of another'
    finished = probe.finish(probe.episode_id)
    assert finished.ok, f'~/finish: {finished.message}'
    assert counts(finished, probe) == sent, '~/finish counts otherwise than ~/advance'
    report = json.loads(finished.report)
    assert report.get('digest') == answer.digest, 'digest in the report of ~/finish'
    assert report.get('step') == probe.latest('step_state').step, 'step in the report of ~/finish'


def counts(answer: object, probe: Probe) -> dict[str, int]:
    """Return how often each topic that is heard was sent."""
    full = {probe.node.resolve_topic_name(topic): topic for topic in probe.heard}
    entries = answer.published  # type: ignore[attr-defined]
    return {full[one.topic]: int(one.count) for one in entries if one.topic in full}
