"""The unit of measurement: the paper's control episode as a bare PyBullet loop.

Same world, same motions and the same reads after every step (contacts of the arm, joint states,
poses of the blocks) as an episode of body `kuka`, but no nodes, no recording and nothing of this
package. Run it to see the CPU seconds; import `bare_episode` to divide by them.
"""

import argparse
import time
from dataclasses import dataclass

import pybullet as p
import pybullet_data

BLOCKS = {'red': (0.5, -0.15, 0.68), 'green': (0.5, 0.0, 0.68), 'blue': (0.5, 0.15, 0.68)}
ZONE = (0.6, 0.35, 0.65)


@dataclass(frozen=True)
class BareTimes:
    """CPU time of one bare episode [s]."""

    build_s: float
    loop_s: float

    @property
    def total_s(self) -> float:
        """Return the time of building the world and stepping through the episode."""
        return self.build_s + self.loop_s


def bare_episode(reads: bool = True) -> BareTimes:
    """Run the episode of 120 + 1260 steps once and return the CPU time it took.

    :param reads: False to step without looking
    """
    started = time.process_time()
    client = p.connect(p.DIRECT)
    p.resetSimulation(client)
    p.setAdditionalSearchPath(pybullet_data.getDataPath(), client)
    p.setTimeStep(1 / 240, client)
    p.setGravity(0, 0, -9.8, client)
    p.setPhysicsEngineParameter(
        numSolverIterations=150,
        deterministicOverlappingPairs=1,
        useSplitImpulse=1,
        physicsClientId=client,
    )
    p.loadURDF('plane.urdf', physicsClientId=client)
    table = p.loadURDF('table/table.urdf', [0.6, 0, 0], physicsClientId=client)
    arm = p.loadURDF('kuka_iiwa/model.urdf', useFixedBase=True, physicsClientId=client)
    joints = range(p.getNumJoints(arm, client))
    for link in (-1, *joints):
        p.setCollisionFilterPair(arm, table, link, -1, 0, client)
    blocks = [
        p.loadURDF('cube_small.urdf', xyz, globalScaling=1.2, physicsClientId=client)
        for xyz in BLOCKS.values()
    ]
    built = time.process_time()

    def step(count: int) -> None:
        for _ in range(count):
            p.stepSimulation(client)
            if reads:
                p.getContactPoints(bodyA=arm, physicsClientId=client)
                p.getJointStates(arm, joints, client)
                for block in blocks:
                    p.getBasePositionAndOrientation(block, client)

    def move(point: tuple[float, ...], height: float) -> None:
        target = (point[0], point[1], point[2] + height)
        angles = p.calculateInverseKinematics(
            arm,
            6,
            target,
            maxNumIterations=200,
            residualThreshold=1e-5,
            physicsClientId=client,
        )
        p.setJointMotorControlArray(
            arm,
            joints,
            p.POSITION_CONTROL,
            targetPositions=angles,
            forces=[2000] * len(joints),
            positionGains=[0.1] * len(joints),
            velocityGains=[1.0] * len(joints),
            physicsClientId=client,
        )
        step(240)

    step(120)
    red = p.getBasePositionAndOrientation(blocks[0], client)[0]
    move(red, 0.15)
    move(red, 0.02)
    grip = p.createConstraint(
        arm, 6, blocks[0], -1, p.JOINT_FIXED, [0] * 3, [0] * 3, [0] * 3, physicsClientId=client
    )
    move(red, 0.15)
    move(ZONE, 0.15)
    move(ZONE, 0.06)
    p.removeConstraint(grip, client)
    step(60)
    stepped = time.process_time()
    p.disconnect(client)
    return BareTimes(build_s=built - started, loop_s=stepped - built)


def main() -> None:
    """Print the best of several runs, which is the least disturbed one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--runs', type=int, default=5)
    runs = parser.parse_args().runs
    times = [bare_episode() for _ in range(runs)]
    blind = [bare_episode(reads=False) for _ in range(runs)]
    print(f'build       {min(t.build_s for t in times):.4f} s CPU')
    print(f'loop        {min(t.loop_s for t in times):.4f} s CPU')
    print(f'bare total  {min(t.total_s for t in times):.4f} s CPU  (the unit; best of {runs})')
    print(f'loop, no reads  {min(t.loop_s for t in blind):.4f} s CPU')


if __name__ == '__main__':
    main()
