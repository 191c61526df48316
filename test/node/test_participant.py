"""A participant that is about to go is not disturbed any more by who comes and goes."""

import pytest
import rclpy
from rclpy.context import Context
from rclpy.node import Node
from std_msgs.msg import Empty

from alpha_chaos.nodes.participant import destroy_all, end_discovery, made_or_let_go


@pytest.fixture
def visitor(stage):
    """Return a function that makes a node of another process, as far as DDS is concerned."""
    contexts, nodes = [], []

    def come(name):
        contexts.append(Context())
        rclpy.init(args=[], context=contexts[-1], domain_id=stage.context.get_domain_id())
        nodes.append(rclpy.create_node(name, context=contexts[-1]))
        return nodes[-1]

    yield come
    for node, context in zip(nodes, contexts, strict=True):
        destroy_all([node])
        rclpy.shutdown(context=context)
        context.destroy()


def test_a_context_learns_of_others_until_its_discovery_ends(stage, visitor):
    node = visitor('leaving')
    visitor('early').create_publisher(Empty, 'early', 1)
    stage.until(lambda: node.count_publishers('early') == 1, 'what is early')
    end_discovery(node)
    visitor('late').create_publisher(Empty, 'late', 1)
    stage.until(lambda: stage.probe.count_publishers('late') == 1, 'what is late')
    assert node.count_publishers('early') == 1
    assert node.count_publishers('late') == 0


def test_discovery_ends_for_a_node_that_fails_while_it_is_made(stage, visitor):
    made = []

    class Failing(Node):
        def __init__(self):
            super().__init__('failing', context=context)
            made.append(self)
            raise LookupError('no such thing')

    context = visitor('host').context
    with pytest.raises(LookupError, match='no such thing'), made_or_let_go():
        Failing()
    visitor('late').create_publisher(Empty, 'late', 1)
    stage.until(lambda: stage.probe.count_publishers('late') == 1, 'what is late')
    assert made.pop().count_publishers('late') == 0


def test_it_may_end_twice_and_before_anything_was_made(stage, visitor):
    node = visitor('leaving')
    end_discovery(node)
    end_discovery(node)

    class Refused(Node):
        def __init__(self):
            raise LookupError('no such thing')

    with pytest.raises(LookupError, match='no such thing'), made_or_let_go():
        Refused()


def test_a_node_that_went_by_itself_is_destroyed_again_and_hides_no_error(visitor):
    node = visitor('gone')
    node.destroy_node()
    destroy_all([node])

    class Leaving(Node):
        def __init__(self):
            super().__init__('leaving', context=node.context)
            self.destroy_node()
            raise LookupError('no such thing')

    with pytest.raises(LookupError, match='no such thing'), made_or_let_go():
        Leaving()
