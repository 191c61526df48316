"""The links of a robot are where PyBullet has them."""

import math
from urllib.parse import unquote, urlparse
from xml.etree import ElementTree

import numpy as np
import pytest

from alpha_chaos.bodies.base import RobotModel
from alpha_chaos.bodies.description import robot_description
from alpha_chaos.catalogues import bodies
from alpha_chaos.kinematic_tree import KinematicTree, Pose
from alpha_chaos.plugins import BadSetting

ROBOTS = {kind: body for kind, body in bodies().items() if body.robot is not None}
ELBOW = """<robot name="elbow">
  <link name="upper"/><link name="lower"/><link name="tip"/>
  <joint name="bend" type="continuous">
    <origin xyz="1 0 0" rpy="0 0 1.5707963267948966"/>
    <parent link="upper"/><child link="lower"/><axis xyz="0 0 1"/>
  </joint>
  <joint name="reach" type="prismatic">
    <parent link="lower"/><child link="tip"/><axis xyz="1 0 0"/>
  </joint>
</robot>"""


@pytest.fixture(params=ROBOTS, ids=str)
def robot(request):
    """Return a body's robot."""
    return ROBOTS[request.param].robot


@pytest.fixture
def tree(robot):
    """Return its links."""
    return KinematicTree(robot_description(robot))


def test_both_bodies_can_be_seen():
    assert {'kuka', 'panda'} <= set(ROBOTS)


def test_an_elbow_bends_and_reaches():
    tree = KinematicTree(ELBOW)
    assert (tree.root, tree.movable) == ('upper', ('bend', 'reach'))
    tip = tree.links({'bend': math.pi / 2, 'reach': 2.0})['tip']
    # A quarter turn of the mounting and one of the joint: x points back to where it came from.
    assert tip.position_m == pytest.approx((-1.0, 0.0, 0.0), abs=1e-12)
    assert tip.orientation == pytest.approx((0.0, 0.0, 1.0, 0.0), abs=1e-12)
    assert tree.links({})['tip'].position_m == pytest.approx((1.0, 0.0, 0.0))


@pytest.mark.parametrize(
    'text', ['', 'robot', '<robot/>', '<robot><link name="a"/><link name="b"/></robot>']
)
def test_what_is_no_robot_is_refused(text):
    with pytest.raises(ValueError, match='not a URDF'):
        KinematicTree(text)


def test_links_are_where_pybullet_has_them_and_in_its_order(robot, tree):
    import pybullet
    import pybullet_data

    client = pybullet.connect(pybullet.DIRECT)
    try:
        pybullet.setAdditionalSearchPath(pybullet_data.getDataPath(), physicsClientId=client)
        arm = pybullet.loadURDF(
            robot.urdf, robot.base_position_m, useFixedBase=True, physicsClientId=client
        )
        numbers = range(pybullet.getNumJoints(arm, physicsClientId=client))
        infos = [pybullet.getJointInfo(arm, number, physicsClientId=client) for number in numbers]
        (base, *joints) = tree.joints
        assert [info[12].decode() for info in infos] == [joint.child for joint in joints]
        assert base.child == pybullet.getBodyInfo(arm, physicsClientId=client)[0].decode()
        draws = np.random.default_rng(1)
        for _ in range(5):
            positions = {}
            for info in infos:
                if info[2] != pybullet.JOINT_FIXED:
                    positions[info[1].decode()] = value = draws.uniform(info[8], info[9])
                    pybullet.resetJointState(arm, info[0], value, physicsClientId=client)
            assert tuple(positions) == tree.movable
            poses = tree.links(positions)
            for info in infos:
                state = pybullet.getLinkState(
                    arm, info[0], computeForwardKinematics=True, physicsClientId=client
                )
                pose = poses[info[12].decode()]
                assert pose.position_m == pytest.approx(state[4], abs=1e-5)
                alike = abs(sum(a * b for a, b in zip(pose.orientation, state[5], strict=True)))
                assert alike == pytest.approx(1.0, abs=1e-6)
    finally:
        pybullet.disconnect(client)


def test_the_base_stands_where_the_body_has_it(robot, tree):
    assert tree.root == 'world'
    first = next(iter(tree.steps({})))
    assert first[1] == Pose(robot.base_position_m)


def test_the_joints_are_those_of_joint_states(robot, tree):
    (body,) = (body for body in ROBOTS.values() if body.robot is robot)
    with body.example.world() as world:
        assert world.joint_names == tree.movable


def test_every_shape_is_a_file_with_its_full_path(robot):
    meshes = list(ElementTree.fromstring(robot_description(robot)).iter('mesh'))
    assert meshes
    for mesh in meshes:
        url = urlparse(mesh.get('filename'))
        assert url.scheme == 'file'
        with open(unquote(url.path), 'rb') as file:
            assert file.read(1)


def test_a_robot_of_your_own_stays_as_it_is_but_for_the_world(tmp_path):
    own = '<robot name="r"><link name="b"><visual><geometry><mesh filename="package://p/m.stl"/>'
    own += '</geometry></visual></link></robot>'
    (tmp_path / 'r.urdf').write_text(own)
    made = robot_description(RobotModel(str(tmp_path / 'r.urdf'), (1.0, 2.0, 0.5)))
    assert 'package://p/m.stl' in made
    assert KinematicTree(made).links({})['b'].position_m == (1.0, 2.0, 0.5)


@pytest.mark.parametrize('content', [None, '', 'no xml'])
def test_a_file_that_is_not_there_or_no_robot_is_refused(tmp_path, content):
    path = tmp_path / 'r.urdf'
    if content is not None:
        path.write_text(content)
    with pytest.raises(BadSetting, match=r'r\.urdf'):
        robot_description(RobotModel(str(path), (0.0, 0.0, 0.0)))
