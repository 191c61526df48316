"""Whatever comes in, on any topic, service or action of any node: no node dies of it.

A node that is new takes part by itself.
"""

import math
from unittest.mock import patch

import pytest
from numpy.random import default_rng
from rcl_interfaces.msg import Parameter, ParameterValue
from rcl_interfaces.srv import GetParameters, SetParameters, SetParametersAtomically
from rclpy.action import (
    ActionServer,
    get_action_client_names_and_types_by_node,
    get_action_server_names_and_types_by_node,
)
from rclpy.serialization import serialize_message

from alpha_chaos.catalogues import drivers
from alpha_chaos.graph import EXECUTABLES, NodeSpec
from alpha_chaos.nodes import joint_trajectory_driver_node
from alpha_chaos.nodes.interfaces import load
from alpha_chaos.run.processes import node_class
from alpha_chaos.srv import Reset

TIMES = 20
HEADER = 4  # bytes that say how the rest is serialised
ATTEMPT = 'control_000/oracle#1'
ANY = {
    'boolean': [False, True],
    'double': [math.nan, math.inf, -1e308, 0.0, 0.5],
    'float': [math.nan, -math.inf, 0.0, 1.0],
    'octet': [b'\0', b'\xff'],
    'string': ['', '{}', '[' * 2000, 'nan', '\u202e\U0001f916', *[ATTEMPT] * 4, '/', ' '],
}


class Hostile:
    """Makes messages with anything in them."""

    def __init__(self, seed):
        self._random = default_rng(seed)

    def message(self, kind):
        """Return a message whose fields each have some value that its type allows."""
        message = kind()
        for name, of in message.get_fields_and_field_types().items():
            setattr(message, name, self._value(of))
        return message

    def damaged(self, kind):
        """Return such a message as it is serialised, with some bytes changed, and perhaps cut."""
        data = bytearray(serialize_message(self.message(kind)))
        for _ in range(self._below(9)):
            place = self._below(len(data))
            if place >= HEADER:
                data[place] = self._below(256)
        return bytes(data[: max(HEADER, self._pick([len(data), self._below(len(data))]))])

    def _below(self, number):
        return int(self._random.integers(number))

    def _pick(self, values):
        return values[self._below(len(values))]

    def _value(self, of):
        if of.startswith('sequence<'):
            item = of.removeprefix('sequence<').removesuffix('>').partition(',')[0]
            return [self._value(item) for _ in range(self._below(4))]
        if of.endswith(']'):
            item, _, size = of.removesuffix(']').partition('[')
            return [self._value(item) for _ in range(int(size))]
        if '/' in of:
            package, name = of.split('/')
            return self.message(load(f'{package}/msg/{name}'))
        if of.startswith('uint'):
            return self._pick([0, 1, 2 ** int(of.removeprefix('uint')) - 1])
        if of.startswith('int'):
            half = 2 ** (int(of.removeprefix('int')) - 1)
            return self._pick([-half, -1, 0, 1, half - 1])
        return self._pick(ANY[of.partition('<')[0]])


@pytest.fixture(scope='module')
def subjects(reference, tmp_path_factory):
    """Return what makes each node, by title."""
    return {one.title: one for one in reference.subjects(tmp_path_factory.mktemp('subjects'))}


def add(stage, reference, subject):
    """Put a node on the stage that goes by /clock, which is one topic more."""
    make = node_class(NodeSpec(subject.node))
    replaced = patch.object(
        joint_trajectory_driver_node, 'load', lambda name: load(reference.STAND_INS[name])
    )
    parameters = {**subject.parameters, 'use_sim_time': True}
    if 'expect' in parameters:  # others, who are not here
        parameters['expect'] = []
    with replaced:
        return stage.add(make, **parameters)


def stand_in(stage, node):
    """Serve what a node asks others for, or no attempt would begin."""
    for end in tuple(node.clients):
        stage.probe.create_service(end.srv_type, end.service_name, lambda _, answer: answer)
    where = node.get_name(), node.get_namespace()
    for name, (of,) in get_action_client_names_and_types_by_node(stage.probe, *where):
        kind = load(of)
        ActionServer(stage.probe, kind, name, lambda handle, kind=kind: kind.Result())


@pytest.mark.parametrize('title', [*sorted(EXECUTABLES), 'fault_relay with `config`'])
def test_no_message_call_or_goal_ends_a_node(stage, reference, subjects, control, title):
    node = add(stage, reference, subjects[title])
    hostile = Hostile(seed=7)

    def all_of(name, send):
        for _ in range(TIMES):
            send()
            stage.turn(0.002)
        for _ in range(TIMES):
            stage.turn(0.002)

    assert '/clock' in {end.topic_name for end in node.subscriptions}
    if Reset in {end.srv_type for end in node.services}:
        stand_in(stage, node)
        episode = control.model_copy(update={'driver': {'kind': title}})
        begun = stage.reset(node.get_name(), episode if title in drivers() else control, ATTEMPT)
        assert begun.ready, begun.message
    for end in tuple(node.subscriptions):
        to = stage.probe.create_publisher(end.msg_type, end.topic_name, end.qos_profile)
        stage.until(lambda to=to: to.get_subscription_count() > 0, end.topic_name)
        all_of(end.topic_name, lambda to=to, of=end.msg_type: to.publish(hostile.message(of)))
        all_of(end.topic_name, lambda to=to, of=end.msg_type: to.publish(hostile.damaged(of)))
    for end in tuple(node.services):
        client = stage.probe.create_client(end.srv_type, end.service_name)
        stage.until(client.service_is_ready, end.service_name)
        request = end.srv_type.Request
        all_of(end.service_name, lambda to=client, of=request: to.call_async(hostile.message(of)))
    where = node.get_name(), node.get_namespace()
    for name, (of,) in get_action_server_names_and_types_by_node(stage.probe, *where):
        kind = load(of)
        all_of(name, lambda to=name, of=kind: stage.send(of, to, hostile.message(of.Goal)))
    answer = stage.ask(GetParameters, f'{node.get_name()}/get_parameters', names=['use_sim_time'])
    assert answer.values[0].bool_value


@pytest.mark.parametrize('kind', [SetParameters, SetParametersAtomically])
def test_a_parameter_of_a_type_that_there_is_not_is_refused_with_a_word(
    stage, reference, subjects, kind
):
    node = add(stage, reference, subjects['perception'])
    bad = [Parameter(name='expect', value=ParameterValue(type=200))] * 2
    service = 'set_parameters' if kind is SetParameters else 'set_parameters_atomically'
    answer = stage.ask(kind, f'{node.get_name()}/{service}', parameters=bad)
    results = answer.results if kind is SetParameters else [answer.result] * 2
    assert [(one.successful, one.reason) for one in results] == [
        (False, '200 is not a valid Parameter.Type')
    ] * 2
