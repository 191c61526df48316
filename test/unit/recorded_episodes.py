"""Small recordings, made without ROS."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from alpha_chaos.bag.definitions import blank, typestore
from alpha_chaos.bag.writer import BagWriter, Summary
from alpha_chaos.bodies.base import BodyState
from alpha_chaos.graph import topics

MSG = 'alpha_chaos/msg/'
NAMES = ('red', 'green', 'blue')
PERIOD_NS = 4_166_667


def made(kind: str, /, **fields: Any) -> Any:
    """Return a message of this type; what is not given is empty."""
    message = blank(kind)
    for name, value in fields.items():
        assert hasattr(message, name), name
        setattr(message, name, value)
    return message


def stamp(time_ns: int) -> Any:
    return made('builtin_interfaces/msg/Time', sec=time_ns // 10**9, nanosec=time_ns % 10**9)


def header(time_ns: int) -> Any:
    return made('std_msgs/msg/Header', stamp=stamp(time_ns), frame_id='world')


def point(x: float, y: float, z: float) -> Any:
    return made('geometry_msgs/msg/Point', x=x, y=y, z=z)


def block(name: str, place: Iterable[float]) -> Any:
    turn = made('geometry_msgs/msg/Quaternion', x=0.0, y=0.0, z=0.0, w=1.0)
    pose = made('geometry_msgs/msg/Pose', position=point(*place), orientation=turn)
    return made(MSG + 'BlockState', name=name, pose=pose)


def a_state(rng: np.random.Generator, contacts: int = 0) -> BodyState:
    """Return some state; its blocks are about where the blocks are."""
    pose = np.zeros((3, 7))
    pose[:, :3] = rng.uniform((0.2, -0.4, 0.6), (0.9, 0.5, 1.2), (3, 3))
    pose[:, 6] = 1
    return BodyState(
        joint_position=rng.normal(size=7),
        joint_velocity=rng.normal(size=7),
        object_pose=pose,
        held=int(rng.integers(-1, 3)),
        contact_link=rng.integers(-1, 7, contacts).astype(np.int32),
        contact_object=rng.integers(-1, 3, contacts).astype(np.int32),
        contact_force=rng.uniform(0, 6000, contacts),
    )


class Recorder:
    """Writes messages as the recorder does; every topic of the graph is declared."""

    def __init__(self, folder: Path, about: dict[str, str] | None = None) -> None:
        self._bag = BagWriter(folder, about)
        self._types = {f'/{topic.name.lstrip("/")}': topic for topic in topics()}
        for name, topic in self._types.items():
            self._bag.add_topic(name, topic.type, topic.latched)

    def write(self, topic: str, time_ns: int, message: Any) -> bytes:
        data = bytes(typestore().serialize_cdr(message, self._types[topic].type))
        self._bag.write(topic, time_ns, data)
        return data

    def world(self) -> None:
        self.write(
            '/world',
            0,
            made(
                MSG + 'WorldDescription',
                header=header(0),
                episode_id='control_000/oracle#1',
                body='kuka',
                step_period=1 / 240,
                first_step=-2,
                joint_names=[f'joint_{number}' for number in range(7)],
                object_names=list(NAMES),
                object_size=np.full(9, 0.06),
                workspace_min=point(0.15, -0.45, 0.55),
                workspace_max=point(0.95, 0.55, 1.25),
                zone=point(0.6, 0.35, 0.65),
                success_radius=0.05,
            ),
        )

    def state(self, step: int, time_ns: int, state: BodyState) -> None:
        self.write(
            '/step_state',
            time_ns,
            made(
                MSG + 'StepState',
                header=header(time_ns),
                episode_id='control_000/oracle#1',
                step=step,
                joint_position=state.joint_position,
                joint_velocity=state.joint_velocity,
                object_pose=state.object_pose.ravel(),
                held_object=state.held,
                contact_link=state.contact_link,
                contact_object=state.contact_object,
                contact_normal_force=state.contact_force,
            ),
        )

    def phase(self, time_ns: int, name: str) -> None:
        self.write(
            '/phase',
            time_ns,
            made(MSG + 'EpisodePhase', stamp=stamp(time_ns), episode_id='', phase=name),
        )

    def question(self, time_ns: int, sampled_ns: int, blocks: dict[str, tuple[float, ...]]) -> Any:
        """Record the question to a planner about block red; return it."""
        scene = made(
            MSG + 'SceneObservation',
            header=header(sampled_ns),
            episode_id='',
            sequence=1,
            blocks=[block(name, place) for name, place in blocks.items()],
        )
        asked = made(
            'alpha_chaos/srv/Plan_Request',
            episode_id='',
            block='red',
            zone=point(0.6, 0.35, 0.65),
            success_radius=0.05,
            scene=scene,
            reasons=[],
        )
        payload = bytes(typestore().serialize_cdr(asked, asked.__msgtype__))
        for side in ('client', 'server'):
            self.write(
                '/exchanges',
                time_ns,
                made(
                    MSG + 'Exchange',
                    stamp=stamp(time_ns),
                    episode_id='',
                    route='oracle_planner/plan',
                    sequence=1,
                    stage='request',
                    side=side,
                    origin='consumer',
                    type=asked.__msgtype__,
                    payload=np.frombuffer(payload, np.uint8),
                    text='{}',
                ),
            )
        return asked

    def close(self, complete: bool = True) -> Summary:
        return self._bag.close({'episode_id': 'control_000/oracle#1'}, complete)

    def abandon(self) -> None:
        self._bag.abandon()
