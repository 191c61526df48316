"""How often the embedded model plans what the oracle plans, and what a plan costs.

    python bench/embedded_plans.py [--scenes 10] [--blocks red,green,blue] [--threads 1]

Scenes are the one after settling, the one that a lagging sensor still reports, and so many more
with every block moved by up to 5 cm, and in every other one the zone as well. `--same-bits`
compares instead the log-probabilities of a whole answer computed by one, two and three threads.
"""

import argparse
import time

import numpy as np

from alpha_chaos.plan import BLOCKS, ActionPlan, PlanProblem, Waypoints
from alpha_chaos.planners.base import PlanRequest, Sampling, Vector
from alpha_chaos.planners.llm import Llm
from alpha_chaos.planners.oracle import Oracle
from alpha_chaos.planners.prompt import completion_request
from alpha_chaos.planners.providers.embedded import Embedded

PLACES = {'red': (0.5, -0.15), 'green': (0.5, 0.0), 'blue': (0.5, 0.15)}  # [m]
ZONE = (0.6, 0.35, 0.65)  # [m]
WAYPOINTS = Waypoints(hover=0.15, grasp=0.02, lift=0.15, zone_hover=0.15, zone_place=0.06)
SHIFT_M = 0.05


def request(block: str, blocks: dict[str, Vector], zone: Vector = ZONE) -> PlanRequest:
    """Return what a planner is asked in a scene."""
    return PlanRequest(block, zone, 0.05, blocks, 0.5, WAYPOINTS)


def at_height(z: float) -> dict[str, Vector]:
    """Return the scene of the paper, with the blocks at a height [m]."""
    return {block: (x, y, z) for block, (x, y) in PLACES.items()}


def scenes(count: int) -> list[tuple[str, dict[str, Vector], Vector]]:
    """Return name, blocks and zone of the scenes."""
    draws = np.random.default_rng(7)
    found = [('settled', at_height(0.655), ZONE), ('stale', at_height(0.68), ZONE)]
    for index in range(count):
        shift = draws.uniform(-SHIFT_M, SHIFT_M, (4, 2))
        blocks = {
            block: (x + float(dx), y + float(dy), 0.655)
            for (block, (x, y)), (dx, dy) in zip(PLACES.items(), shift, strict=False)
        }
        moved = (ZONE[0] + float(shift[3, 0]), ZONE[1] + float(shift[3, 1]), ZONE[2])
        found.append((f'moved_{index}', blocks, moved if index % 2 else ZONE))
    return found


def count(blocks: list[str], moved: int, threads: int) -> None:
    """Print how often each block's plan is the oracle's."""
    model = Embedded(threads=threads)
    for block in blocks:
        right, wall_s, cpu_s, tokens = 0, [], [], []
        for name, seen, zone in scenes(moved):
            asked = request(block, seen, zone)
            cpu = time.process_time()
            reply = Llm().plan(asked, model.complete)
            cpu_s.append(time.process_time() - cpu)
            wall_s.append(reply.info.wall_s)
            tokens.append((reply.info.prompt_tokens, reply.info.completion_tokens))
            try:
                plan = ActionPlan.validate_raw_plan(reply.text or '').plan
                same = asked.resolve(plan) == Oracle().plan(asked).plan
            except PlanProblem:
                same = False
            right += same
            if not same:
                print(f'  {block}, {name}: {reply.error} {reply.text}')
        print(
            f'{block:6} {right} of {len(wall_s)} right; wall {np.median(wall_s):.1f} s'
            f' (longest {max(wall_s):.1f}), CPU {np.median(cpu_s):.1f} s;'
            f' tokens read {tokens[0][0]}, written {tokens[0][1]}',
            flush=True,
        )
    model.close()


def same_bits() -> None:
    """Print whether the number of threads changes anything."""
    question = completion_request(request('red', at_height(0.655)), Sampling())
    first = None
    for threads in (1, 2, 3):
        model = Embedded(threads=threads)
        reply = model._loaded().handle_chat_completions(
            {
                'messages': [
                    {'role': 'system', 'content': question.system},
                    {'role': 'user', 'content': question.prompt},
                ],
                'temperature': 0,
                'max_tokens': 120,
                'logprobs': True,
                'cache_prompt': False,
            }
        )
        weighed = [
            (token['token'], token['logprob'])
            for token in reply['choices'][0]['logprobs']['content']
        ]
        first = first or weighed
        same = 'the same' if weighed == first else 'OTHER NUMBERS'
        print(f'{threads} threads: {len(weighed)} tokens, {same}')
        model.close()


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--scenes', type=int, default=10)
    parser.add_argument('--blocks', default=','.join(BLOCKS))
    parser.add_argument('--threads', type=int, default=1)
    parser.add_argument('--same-bits', action='store_true')
    options = parser.parse_args()
    if options.same_bits:
        same_bits()
    else:
        count(options.blocks.split(','), options.scenes, options.threads)


if __name__ == '__main__':
    main()
