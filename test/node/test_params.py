"""Parameters of a node: they mean what people mean, or the error names the parameter."""

import re
import sys

import pytest
from pydantic import Field
from rcl_interfaces.msg import FloatingPointRange, IntegerRange
from rclpy.node import Node
from rclpy.parameter import Parameter

from alpha_chaos.graph import EXECUTABLES, NodeSpec
from alpha_chaos.nodes.params import Params, declare
from alpha_chaos.nodes.spin import run
from alpha_chaos.plugins import BadSetting
from alpha_chaos.run.processes import node_class


class Everything(Params):
    """One parameter of each type."""

    limit: float = Field(1.5, gt=0, description='a limit [s]')
    steps: int = Field(8, ge=1, description='steps [1]')
    model: str = Field('', description='model tag')
    loud: bool = Field(False, description='say more')
    names: list[str] = Field([], description='some names')


@pytest.fixture
def given(stage):
    """Return a function that declares the parameters of a node started with some of them."""

    def give(*cli, **parameters):
        arguments = [part for entry in cli for part in ('-p', entry)]
        return declare(stage.add(Node, 'somebody', cli=arguments, **parameters), Everything)

    return give


def test_without_any_the_defaults_hold(given):
    assert given() == Everything()


def test_an_integer_is_accepted_for_a_float(given):
    params = given('limit:=3')
    assert (params.limit, type(params.limit)) == (3.0, float)


@pytest.mark.parametrize('tag', ['7e1', '123E5', '1.0', 'true', 'null', '0x10', 'qwen2.5:7b', ''])
def test_a_model_tag_that_is_given_as_text_stays_text(given, tag):
    assert given(model=tag).model == tag


@pytest.mark.parametrize('tag', ['7e1', '123E5', '42', 'true'])
def test_a_model_tag_that_the_command_line_takes_for_a_number_is_refused_by_name(given, tag):
    with pytest.raises(BadSetting, match=r"node 'somebody': model: .*string"):
        given(f'model:={tag}')


def test_quoted_on_the_command_line_it_is_text_again(given):
    assert given("model:='7e1'").model == '7e1'


@pytest.mark.parametrize(
    ('entry', 'name'),
    [
        ('limit:=fast', 'limit'),
        ('limit:=-1.0', 'limit'),
        ('limit:=.nan', 'limit'),
        ('limit:=.inf', 'limit'),
        ('limit:=true', 'limit'),
        ('steps:=2.5', 'steps'),
        ('steps:=0', 'steps'),
        ('loud:=1', 'loud'),
        ('names:=red', 'names'),
        ('names:=[1, 2]', 'names'),
    ],
)
def test_what_does_not_fit_is_refused_by_name(given, entry, name):
    with pytest.raises(BadSetting, match=f"parameters of node 'somebody': {name}"):
        given(entry)


def test_lists_of_text_may_be_empty(given):
    assert given(names=[]).names == []
    assert given('names:=[red, green]').names == ['red', 'green']


def test_a_parameter_cannot_be_changed_later(stage):
    node = stage.add(Node, 'somebody')
    declare(node, Everything)
    (result,) = node.set_parameters([Parameter('steps', value=9)])
    assert not result.successful
    assert node.get_parameter('steps').value == 8


def test_a_parameter_carries_its_description(stage):
    node = stage.add(Node, 'somebody')
    declare(node, Everything)
    assert node.describe_parameter('limit').description == 'a limit [s]'


# -- what ros2 param describe shows


@pytest.mark.parametrize(
    ('name', 'given', 'kind'),
    [
        ('limit', 'limit:=3', Parameter.Type.DOUBLE),
        ('steps', 'steps:=9', Parameter.Type.INTEGER),
        ('model', 'model:=qwen', Parameter.Type.STRING),
        ('loud', 'loud:=true', Parameter.Type.BOOL),
        ('names', 'names:=[red]', Parameter.Type.STRING_ARRAY),
        ('names', 'names:=[]', Parameter.Type.STRING_ARRAY),
    ],
)
def test_a_parameter_is_of_the_type_it_is_meant_to_be_given_or_not(stage, name, given, kind):
    for cli in ([], ['-p', given]):
        node = stage.add(Node, 'somebody' + '_given' * bool(cli), cli=cli)
        params = declare(node, Everything)
        assert node.describe_parameter(name).type == kind.value
        assert not node.describe_parameter(name).dynamic_typing
        parameter = node.get_parameter(name)
        assert (parameter.type_, parameter.value) == (kind, getattr(params, name))


class Bounded(Params):
    """Numbers with each kind of bound."""

    share: float = Field(0.5, ge=0, le=1, description='a share [1]')
    limit: float = Field(1.5, gt=0, description='a limit [s]')
    below: float = Field(-1.0, lt=0.5, description='a depth [m]')
    steps: int = Field(8, ge=1, description='steps [1]')
    port: int = Field(8765, gt=0, lt=65536, description='a port [1]')
    free: float = Field(0.0, description='any number [1]')


@pytest.mark.parametrize(
    ('name', 'low', 'high', 'words'),
    [
        ('share', 0.0, 1.0, 'at least 0, at most 1'),
        ('limit', 0.0, sys.float_info.max, 'more than 0'),
        ('below', -sys.float_info.max, 0.5, 'less than 0.5'),
        ('steps', 1, 2**63 - 1, 'at least 1'),
        ('port', 0, 65536, 'more than 0, less than 65536'),
    ],
)
def test_bounds_are_ranges(stage, name, low, high, words):
    node = stage.add(Node, 'somebody')
    declare(node, Bounded)
    described = node.describe_parameter(name)
    if isinstance(low, int):
        ranges = [IntegerRange(from_value=low, to_value=high, step=1)]
        assert (described.integer_range, described.floating_point_range) == (ranges, [])
    else:
        ranges = [FloatingPointRange(from_value=low, to_value=high)]
        assert (described.integer_range, described.floating_point_range) == ([], ranges)
    assert described.additional_constraints == words


def test_a_number_without_bounds_has_no_range(stage):
    node = stage.add(Node, 'somebody')
    declare(node, Bounded)
    described = node.describe_parameter('free')
    assert (described.floating_point_range, described.additional_constraints) == ([], '')


def test_what_is_out_of_range_is_refused_with_the_bound_that_it_breaks(stage):
    with pytest.raises(BadSetting, match=r"'somebody': limit: .*greater than 0"):
        declare(stage.add(Node, 'somebody', cli=['-p', 'limit:=0.0']), Bounded)


@pytest.mark.parametrize('name', EXECUTABLES)
def test_every_parameter_of_every_node_says_what_it_is(stage, name):
    node = stage.add(Node, name)
    model = node_class(NodeSpec(name)).params_model
    params = declare(node, model)
    for entry, field in model.model_fields.items():
        described = node.describe_parameter(entry)
        assert described.read_only, entry
        assert len(described.description) > 10, entry
        if field.annotation in (int, float):
            assert re.search(r'\[[^]]+\]', described.description), f'{entry} has no unit'
            assert described.integer_range or described.floating_point_range, entry
        (answer,) = node.set_parameters([Parameter(entry, value=getattr(params, entry))])
        assert not answer.successful, entry


def test_an_argument_that_is_no_text_is_refused_in_one_line(capsys):
    assert run(Node, ['node', '--ros-args', '-p', 'config:=\udcff.yaml']) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: 'utf-8' codec can't encode")
