"""Where the random numbers of a fault come from: the episode's seed and nothing else.

Both arms of a pair share the seed, so they draw the same numbers; no fault draws from another's
generator, so the order in which messages arrive changes nothing.
"""

import zlib
from typing import TYPE_CHECKING, Any

from numpy.random import MT19937, Generator, RandomState, SeedSequence, default_rng

if TYPE_CHECKING:
    from alpha_chaos.experiment import DrawRule, Episode


def draws_for(episode: 'Episode', fault_index: int) -> Generator:
    """Return a fresh generator for the fault at this place in `episode.faults`."""
    kinds = [fault['kind'] for fault in episode.faults]
    kind = kinds[fault_index]
    return generator(episode.draws, episode.seed, str(kind), kinds[:fault_index].count(kind))


def generator(rule: 'DrawRule', seed: int, kind: str, occurrence: int) -> Generator:
    """Return a fresh generator for one fault of an episode.

    :param rule: 'mersenne_twister' gives every fault the same numbers as CPython's
        `random.Random(seed).random()`, which is what the paper drew; 'seed_sequence' gives each
        fault a stream of its own
    :param occurrence: number of faults of this kind before it in the episode. The place among
        *all* faults does not count, so a fault draws the same alone and beside others
    """
    if rule == 'mersenne_twister':
        words = [seed >> shift & 0xFFFFFFFF for shift in range(0, max(seed.bit_length(), 1), 32)]
        # An array of words, as CPython seeds with; MT19937(seed) would hash the seed first.
        state: Any = RandomState(words).get_state(legacy=False)
        twister = MT19937()
        twister.state = state
        return Generator(twister)
    return default_rng(SeedSequence((seed, zlib.crc32(kind.encode()), occurrence)))
