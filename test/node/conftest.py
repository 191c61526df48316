"""A stage: nodes under test and a probe beside them, in a context and on a domain of their own."""

import gc
import importlib.util
import os
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import rclpy
import rclpy.logging
from rclpy.action import ActionClient
from rclpy.context import Context
from rclpy.experimental import EventsExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter

from alpha_chaos.experiment import Episode, Experiment
from alpha_chaos.nodes import qos
from alpha_chaos.nodes.interfaces import load
from alpha_chaos.nodes.participant import destroy_all
from alpha_chaos.nodes.rclpy_input import refuse_bad_input
from alpha_chaos.run.domains import Domains
from alpha_chaos.run.processes import environment
from alpha_chaos.srv import Finish, Reset

with warnings.catch_warnings():
    # Messages import it when they are first used, and it imports what Python has renamed.
    warnings.simplefilter('ignore', DeprecationWarning)
    import rosidl_generator_py  # noqa: F401

PATIENCE_S = 30.0  # the machine may be busy


class Stage:
    """Everything happens in the caller's thread: nodes turn only while something is awaited."""

    def __init__(self, domain: int) -> None:
        os.environ.update(environment(domain))
        refuse_bad_input()
        self.context = Context()
        rclpy.init(args=[], context=self.context, domain_id=domain)
        # The process keeps the level that whoever was here before has asked for.
        rclpy.logging.set_logger_level('', rclpy.logging.LoggingSeverity.INFO)
        self.executor = EventsExecutor(context=self.context)
        self.nodes: list[Node] = []
        self._clients: dict[str, Any] = {}
        self.probe = self.add(Node, 'probe')

    def add(
        self,
        make: Callable[..., Any],
        *args: Any,
        remap: dict[str, str] | None = None,
        cli: list[str] | None = None,
        feed: Any = None,
        **parameters: Any,
    ) -> Any:
        """Put a node on the stage.

        :param remap: output name by input name
        :param cli: further ROS arguments, as on a command line
        """
        arguments = ['--ros-args', *(cli or [])]
        for source, target in (remap or {}).items():
            arguments += ['-r', f'{source}:={target}']
        overrides = [
            Parameter(
                name, Parameter.Type.STRING_ARRAY if isinstance(value, list) else None, value
            )
            for name, value in parameters.items()
        ]
        options: dict[str, Any] = {} if feed is None else {'feed': feed}
        node = make(
            *args,
            context=self.context,
            cli_args=arguments,
            parameter_overrides=overrides,
            **options,
        )
        self.nodes.append(node)
        self.executor.add_node(node)
        return node

    def remove(self, node: Node) -> None:
        """Take a node off the stage."""
        self.nodes.remove(node)
        self.executor.remove_node(node)
        for waitable in tuple(node.waitables):
            waitable.destroy()
        node.destroy_node()

    def turn(self, seconds: float = 0.02) -> None:
        """Let the nodes work for about so long."""
        self.executor.spin_once(timeout_sec=seconds)

    def until(
        self, done: Callable[[], Any], what: str = 'it', seconds: float = PATIENCE_S
    ) -> None:
        """Let the nodes work until `done`."""
        deadline = time.monotonic() + seconds
        while not done():
            assert time.monotonic() < deadline, f'{what} did not happen within {seconds:g} s'
            self.turn()

    def answer(self, future: Any, what: str = 'an answer') -> Any:
        """Wait for a future and return its result."""
        self.until(future.done, what)
        return future.result()

    # -- services

    def request(self, srv_type: Any, name: str, **fields: Any) -> Any:
        """Ask a service and return the future of its answer."""
        if name not in self._clients:
            self._clients[name] = self.probe.create_client(srv_type, name)
        client = self._clients[name]
        self.until(client.service_is_ready, f'service {name}')
        return client.call_async(srv_type.Request(**fields))

    def ask(self, srv_type: Any, name: str, **fields: Any) -> Any:
        """Ask a service and return its answer."""
        return self.answer(self.request(srv_type, name, **fields), f'an answer from {name}')

    def reset(self, name: str, episode: Episode, attempt: str = '', bag: str = '') -> Any:
        """Begin an attempt on a node, once it is ready for it."""
        fields = {
            'episode_id': attempt or f'{episode.id}#1',
            'episode': episode.to_json(),
            'bag': bag,
        }
        response = self.ask(Reset, f'{name}/reset', **fields)
        deadline = time.monotonic() + PATIENCE_S
        while not response.ready and not response.failed and time.monotonic() < deadline:
            self.turn()
            response = self.ask(Reset, f'{name}/reset', **fields)
        return response

    def finish(self, name: str, attempt: str) -> Any:
        """End an attempt on a node."""
        return self.ask(Finish, f'{name}/finish', episode_id=attempt)

    # -- actions

    def send(self, action_type: Any, name: str, goal: Any, feedback: Any = None) -> Any:
        """Send a goal and return the future of its acceptance."""
        if name not in self._clients:
            self._clients[name] = ActionClient(self.probe, action_type, name)
        client = self._clients[name]
        self.until(client.server_is_ready, f'action {name}')
        return client.send_goal_async(goal, feedback_callback=feedback)

    def drive(self, action_type: Any, name: str, goal: Any) -> Any:
        """Send a goal and return what became of it: `.accepted`, else `.status` and `.result`."""
        handle = self.answer(self.send(action_type, name, goal), f'acceptance by {name}')
        if not handle.accepted:
            return handle
        return self.answer(handle.get_result_async(), f'a result of {name}')

    # -- topics

    def hear(self, msg_type: str, topic: str, latched: bool = False) -> list[Any]:
        """Return a list that fills with the messages of a topic, serialised as they came."""
        heard: list[Any] = []
        profile = qos.LATCHED if latched else qos.STREAM
        self.probe.create_subscription(load(msg_type), topic, heard.append, profile, raw=True)
        return heard

    def voice(self, msg_type: str, topic: str, latched: bool = False) -> Any:
        """Return a publisher that has found its subscriber."""
        profile = qos.LATCHED if latched else qos.STREAM
        publisher = self.probe.create_publisher(load(msg_type), topic, profile)
        self.until(lambda: publisher.get_subscription_count() > 0, f'a subscriber of {topic}')
        return publisher

    def close(self) -> None:
        """Leave nothing behind."""
        self._clients.clear()
        for node in self.nodes:
            self.executor.remove_node(node)
        destroy_all(reversed(self.nodes))
        self.nodes.clear()
        del self.executor
        rclpy.shutdown(context=self.context)
        gc.collect()
        self.context.destroy()


@pytest.fixture(scope='session')
def domains() -> Domains:
    return Domains()


@contextmanager
def _a_stage(domains: Domains) -> Iterator[Stage]:
    domain = domains.claim()
    made = Stage(domain)
    yield made
    made.close()
    domains.free(domain)


@pytest.fixture
def stage(domains: Domains) -> Iterator[Stage]:
    """Return an empty stage."""
    with _a_stage(domains) as made:
        yield made


@pytest.fixture
def elsewhere(stage: Stage) -> Iterator[Node]:
    """Return a node of another process, as far as the middleware is concerned."""
    context = Context()
    rclpy.init(args=[], context=context, domain_id=stage.context.get_domain_id())
    node = rclpy.create_node('elsewhere', context=context)
    yield node
    destroy_all([node])
    rclpy.shutdown(context=context)
    context.destroy()


@pytest.fixture(scope='module')
def shared_stage(domains: Domains) -> Iterator[Stage]:
    """Return a stage for what is made once and looked at by several tests."""
    with _a_stage(domains) as made:
        yield made


@pytest.fixture(scope='session')
def paper() -> Experiment:
    return Experiment.load('paper')


@pytest.fixture(scope='session')
def control(paper: Experiment) -> Episode:
    """Return an episode without faults, for the oracle."""
    return paper.episode('control_000', 'oracle')


@pytest.fixture(scope='session')
def reference() -> ModuleType:
    """Return the script that describes every node."""
    spec = importlib.util.spec_from_file_location(
        'reference', Path(__file__).parents[2] / 'scripts/reference.py'
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
