"""What every fault in transit must keep to. A new file in transit/ is tested by being there."""

import json

import pytest
from fault_traffic import AlwaysDraw
from numpy.random import default_rng
from plugin_files import check_holds_plugin, kinds
from transit_traffic import COUNT, PERIOD_NS, Link, message, on_time, parcel, seen

import alpha_chaos.transit
from alpha_chaos import catalogues
from alpha_chaos.plugins import BadSetting, parse
from alpha_chaos.transit.base import SIDES_OF, TransitFault
from alpha_chaos.transit.schedule import Schedule
from alpha_chaos.transit.stack import Limits

# Files of the package that are no faults.
FRAME = {'__init__', 'base', 'config', 'content', 'schedule', 'stack'}


@pytest.fixture(params=kinds(alpha_chaos.transit, FRAME))
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def fault(kind: str) -> TransitFault:
    example: TransitFault = catalogues.transit_faults()[kind].example
    return example


def struck_always(fault: TransitFault) -> TransitFault:
    return fault.model_copy(update={'probability': 1.0})


def test_a_file_holds_the_fault_of_its_name_and_an_example(kind: str) -> None:
    check_holds_plugin(kind, catalogues.transit_faults(), 'transit')


def test_every_setting_is_described_with_its_unit_or_its_words(fault: TransitFault) -> None:
    for name, field in type(fault).model_fields.items():
        if name != 'kind':
            assert field.description, f'{fault.kind}.{name} has no description'
        if name.endswith('_s'):
            assert '[s]' in str(field.description)


def test_there_is_a_route_that_it_can_be_on(fault: TransitFault) -> None:
    assert set(fault.sides) <= {side for sides in SIDES_OF.values() for side in sides}
    assert fault.sides


def test_the_same_seed_and_traffic_give_the_same_decisions(fault: TransitFault) -> None:
    first, second = Link(fault, seed=11).run(), Link(fault, seed=11).run()
    assert seen(first) == seen(second)
    assert first.verdicts == second.verdicts


def test_two_injectors_share_no_state(fault: TransitFault) -> None:
    alone = Link(fault).run()
    used = Link(fault)
    used.send(99)
    assert seen(Link(fault).run()) == seen(alone)
    assert used.record is not alone


def test_settings_survive_json_and_back(fault: TransitFault) -> None:
    text = fault.model_dump_json()
    assert parse(catalogues.transit_faults(), json.loads(text), 'fault') == fault
    assert fault.model_dump(mode='json') == json.loads(text)


def test_a_misspelt_setting_is_refused_with_the_right_one(fault: TransitFault) -> None:
    with pytest.raises(BadSetting, match="did you mean 'probability'"):
        parse(catalogues.transit_faults(), {**fault.model_dump(), 'probabilty': 0.5}, 'fault')


@pytest.mark.parametrize('probability', [-1e-9, 1 + 1e-9, float('nan'), 'often'])
def test_a_probability_outside_0_to_1_is_refused(fault: TransitFault, probability: object) -> None:
    settings = {**fault.model_dump(), 'probability': probability}
    with pytest.raises(BadSetting, match='probability'):
        parse(catalogues.transit_faults(), settings, 'fault')


def test_probability_0_passes_everything_unchanged_at_once_and_still_decides(
    fault: TransitFault,
) -> None:
    never = Link(fault.model_copy(update={'probability': 0.0})).run()
    assert seen(never) == on_time()
    assert never.answered == []
    assert len(never.verdicts) == COUNT
    assert not any(never.struck)


def test_probability_1_strikes_and_shows_it(fault: TransitFault) -> None:
    always = Link(struck_always(fault)).run()
    assert any(always.struck)
    assert seen(always) != on_time()


def test_it_strikes_exactly_when_the_draw_is_below_the_probability(fault: TransitFault) -> None:
    struck = []
    for probability in (0.5 - 1e-9, 0.5, 0.5 + 1e-9, 1.0):
        link = Link()
        settings = fault.model_copy(update={'probability': probability})
        link.arm(0, settings, draws=AlwaysDraw(0.5))
        struck.append(link.run().struck)
    assert not any(struck[0])
    assert not any(struck[1])
    assert any(struck[2])
    assert struck[3] == struck[2]


def test_the_draws_depend_neither_on_the_probability_nor_on_the_schedule(
    fault: TransitFault,
) -> None:
    def draws(**changes: object) -> list[float | None]:
        return Link(fault.model_copy(update=changes)).run().draws

    never, always = draws(probability=0.0), draws(probability=1.0)
    assert never == always
    # 1.05 s in, the eleventh message is the first that is looked at.
    late = draws(schedule=Schedule(after_s=1.05, for_s=2.0))
    assert late == never[10:30]


def test_triggered_is_what_changed_something(fault: TransitFault) -> None:
    record = Link(fault).run()
    left = {one.sequence: one.data for _, one in record.left}
    for verdict in record.verdicts:
        if not verdict.decision.triggered:
            number = verdict.parcel.sequence
            assert left[number] == message(number)


def test_nothing_leaves_before_it_came(fault: TransitFault) -> None:
    record = Link(struck_always(fault)).run()
    assert all(left_ns >= one.sequence * PERIOD_NS for left_ns, one in record.left)


def test_time_does_not_run_back_where_messages_leave(fault: TransitFault) -> None:
    times = [left_ns for left_ns, _ in Link(fault).run().left]
    assert times == sorted(times)


def test_a_flood_is_not_held_back_without_bound(fault: TransitFault) -> None:
    size = len(message(1))
    link = Link(struck_always(fault), limits=Limits(messages=50, bytes=20 * size))
    for number in range(1, 301):
        link.send(number, message(1))
        assert link.stack.held <= 50
        assert link.stack.held_bytes <= 20 * size


def test_removal_frees_what_it_held_and_restores_identity(fault: TransitFault) -> None:
    link = Link(struck_always(fault))
    for number in range(1, 31):
        link.wait_until(number * PERIOD_NS)
        link.send(number)
    link.disarm(0)
    assert link.stack.idle
    assert link.stack.held == link.stack.held_bytes == 0
    assert link.stack.due_ns is None
    (passed,) = link.send(31)
    assert passed.data == message(31)


def test_a_reset_leaves_nothing(fault: TransitFault) -> None:
    link = Link(struck_always(fault))
    for number in range(1, 31):
        link.wait_until(number * PERIOD_NS)
        link.send(number)
    link.stack.clear()
    assert link.stack.idle
    assert link.stack.held == link.stack.held_bytes == 0
    assert link.stack.due_ns is None


def test_outside_its_schedule_it_changes_nothing(fault: TransitFault) -> None:
    window = Schedule(after_s=2.0, for_s=1.0)
    record = Link(fault.model_copy(update={'schedule': window, 'probability': 1.0})).run()
    assert seen(record)[:19] == on_time()[:19]
    decided = [verdict.parcel.sequence for verdict in record.verdicts]
    assert decided == list(range(20, 30))
    assert seen(record)[-10:] == on_time()[-10:]


def test_when_time_begins_anew_it_does_as_it_did(fault: TransitFault) -> None:
    link = Link(fault)
    first = seen(link.run())
    link.now_ns = 0
    link.stack.restart(0)
    link.record.left.clear()
    assert seen(link.run()) == first


def test_every_decision_names_the_fault_and_is_json(fault: TransitFault) -> None:
    for verdict in Link(fault).run().verdicts:
        decision = verdict.decision
        assert decision.fault == fault.kind
        assert decision.probability == fault.probability
        assert decision.draw is None or 0 <= decision.draw < 1
        assert json.loads(json.dumps(decision.detail, allow_nan=False)) == decision.detail


def test_bytes_that_are_no_message_never_crash_it(fault: TransitFault) -> None:
    link = Link(struck_always(fault))
    link.send(1)
    for number, junk in enumerate((b'', b'{"ranges": [', b'\xff\xfe', b'[]', b'{"pose": 3}'), 2):
        link.send(number, junk)
    link.drain()
    failed = [verdict for verdict in link.record.verdicts if 'error' in verdict.decision.detail]
    assert failed == []


def test_an_injector_of_a_message_nobody_can_read_lets_it_pass_or_moves_it(
    fault: TransitFault,
) -> None:
    injector = struck_always(fault).injector(default_rng(1), default_rng(2), 0)
    unread = parcel(1, 0)
    passages, decision = injector.on_parcel(
        type(unread)(unread.data, 0.0, 1, None, answers=unread.answers), 0
    )
    assert decision is not None
    assert all(passage.parcel.data == unread.data for passage in passages)
