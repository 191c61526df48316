"""What this package's world adds to the bare loop, alternating with it in one process."""

import argparse
import time

from bare_loop import bare_episode

from alpha_chaos.bodies.base import StateDigest, World
from alpha_chaos.bodies.kuka import Kuka

ZONE = (0.6, 0.35, 0.65)


def world_episode(digest: bool = False) -> float:
    """Run the bare loop's episode through a world; return the CPU time of stepping [s]."""
    with Kuka().world() as world:
        started = time.process_time()
        _episode(world, StateDigest() if digest else None)
        return time.process_time() - started


def _episode(world: World, digest: StateDigest | None) -> None:
    number = 0

    def step(count: int) -> None:
        nonlocal number
        for _ in range(count):
            world.step()
            state = world.state()
            number += 1
            if digest:
                digest.update(number, state)

    def move(point: tuple[float, ...], height: float) -> None:
        step(world.start_move((point[0], point[1], point[2] + height), None))

    step(120)
    red = tuple(world.state().object_pose[0, :3].tolist())
    move(red, 0.15)
    move(red, 0.02)
    world.start_grip(0.0, 500.0, 'red')
    move(red, 0.15)
    move(ZONE, 0.15)
    move(ZONE, 0.06)
    world.start_grip(0.08, 500.0, '')
    step(60)


def main() -> None:
    """Print the best of several runs each and their ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--runs', type=int, default=10)
    runs = parser.parse_args().runs
    bare, plain, digested = [], [], []
    for _ in range(runs):
        bare.append(bare_episode().loop_s)
        plain.append(world_episode())
        digested.append(world_episode(digest=True))
    print(f'bare loop          {min(bare):.4f} s CPU')
    print(f'world              {min(plain):.4f} s CPU  {min(plain) / min(bare):.3f} x')
    print(f'world and digest   {min(digested):.4f} s CPU  {min(digested) / min(bare):.3f} x')


if __name__ == '__main__':
    main()
