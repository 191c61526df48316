"""Parameters of a node: they mean what people mean, or the error names the parameter."""

import pytest
from pydantic import Field
from rclpy.node import Node
from rclpy.parameter import Parameter

from alpha_chaos.nodes.params import Params, declare
from alpha_chaos.plugins import BadSetting


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
