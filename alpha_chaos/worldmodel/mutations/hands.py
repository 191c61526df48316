"""Where hands have to be washed."""

from collections.abc import Iterator

from alpha_chaos.worldmodel.mutations.golden import Golden, spoken


def needed_washings(golden: Golden) -> Iterator[tuple[int, str]]:
    """Yield each washing of hands that keeps germs off the plate, and what happens without it.

    Raw meat or fish was held since the washing before it, and until the next one a hand takes
    food that is eaten and that no heat reaches any more. Washing anything with soap washes the
    hands, too.
    """
    washings = [i for i, _ in golden.of('wash_hands', 'wash')]
    for n, i in enumerate(washings):
        if golden.steps[i].action == 'wash':
            continue
        since = washings[n - 1] if n else -1
        until = washings[n + 1] if n + 1 < len(washings) else len(golden.steps)
        if not any(golden.touches_raw(k) for k in range(since + 1, i)):
            continue
        for k, step in golden.of('grab', 'take_out', after=i):
            food = step.arguments[0]
            if k < until and golden.eaten_as_it_is(food, k):
                yield i, f'hands that held raw meat take {spoken(food)}'
                break
