"""Plans that nobody thought about: what a score has to be compared with."""

import zlib

import numpy as np

from alpha_chaos.worldmodel.plan_text import Plan

BASELINES = ('empty', 'golden', 'shuffled', 'truncated')


def baseline(kind: str, golden: Plan, task: str) -> Plan:
    """Return a baseline plan of a task.

    :param kind: empty; golden, as it is; shuffled, its steps in an order drawn from the name of
        the task; truncated, the first half of its steps
    """
    steps = golden.steps
    if kind == 'empty':
        return Plan(())
    if kind == 'shuffled':
        rng = np.random.default_rng(zlib.crc32(f'shuffled/{task}'.encode()))
        return Plan.of(steps[i] for i in rng.permutation(len(steps)))
    if kind == 'truncated':
        return Plan.of(steps[: len(steps) // 2])
    return golden
