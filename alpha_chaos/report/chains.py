"""Causal chains as timelines: which step planted a harm, which one sealed it, where it shows."""

from collections.abc import Sequence
from dataclasses import dataclass

from alpha_chaos.worldmodel.answers import Answer, FailureRecord
from alpha_chaos.worldmodel.plan_text import read_step

WIDTH = 600.0  # of the drawing, in its own units
MARGIN = 10.0
PLANTED, PASSED_ON, SEALED, SHOWS = 'planted', 'passed on', 'sealed', 'shows'


@dataclass(frozen=True)
class Event:
    """A moment of a chain.

    :param x: where it is on the line
    :param marks: what it is in the chain: planted, passed on, sealed, shows
    :param action: the step as it was written; empty for the start and the end
    :param facts: what it made
    """

    moment: str
    x: float
    marks: tuple[str, ...]
    action: str
    facts: tuple[str, ...]

    @property
    def text(self) -> str:
        """Return all of it in one line."""
        what = ', '.join(self.facts)
        parts = (', '.join(self.marks), self.action, what)
        return f'{self.moment}: {"; ".join(part for part in parts if part)}'


@dataclass(frozen=True)
class Chain:
    """A latent failure, from its seed to where it shows."""

    failure: FailureRecord
    steps: int
    events: tuple[Event, ...]

    @property
    def ticks(self) -> list[float]:
        """Return where the steps are on the line; of a long plan, none."""
        if self.steps > 120:
            return []
        return [_x(step, self.steps) for step in range(1, self.steps + 1)]

    @property
    def text(self) -> str:
        """Return the chain for who does not see it."""
        return '. '.join(event.text for event in self.events)


def chains(answer: Answer) -> list[Chain]:
    """Return the latent failures of an answer, the worst ones first."""
    if answer.verdict is None:
        return []
    lines = _steps(answer.plan)
    found = [failure for failure in answer.verdict.failures if failure.kind == 'latent']
    found.sort(key=lambda failure: (failure.reversible, -failure.severity))
    return [_chain(failure, answer.verdict.steps, lines) for failure in found]


def _chain(failure: FailureRecord, steps: int, lines: Sequence[str]) -> Chain:
    end = steps + 1
    shows = failure.step or end
    facts: dict[int, list[str]] = {}
    actions: dict[int, str] = {}
    for link in failure.chain:
        facts.setdefault(link.step, []).append(link.fact)
        actions[link.step] = link.action
    moments = {*facts, shows}
    moments.update(step for step in (failure.planted, failure.sealed) if step is not None)
    events = []
    for step in sorted(moments):
        marks = [
            name
            for name, at in (
                (PLANTED, failure.planted),
                (SEALED, failure.sealed),
                (SHOWS, shows),
            )
            if at == step
        ]
        action = actions.get(step) or (lines[step - 1] if 0 < step <= len(lines) else '')
        moment = 'start' if step == 0 else 'end' if step == end else f'step {step}'
        events.append(
            Event(
                moment,
                _x(step, steps),
                tuple(marks) or (PASSED_ON,),
                action,
                tuple(dict.fromkeys(facts.get(step, ()))),
            )
        )
    return Chain(failure, steps, tuple(events))


def _x(step: int, steps: int) -> float:
    return round(MARGIN + (WIDTH - 2 * MARGIN) * step / (steps + 1), 1)


def _steps(plan: str) -> list[str]:
    return [step.text for line in plan.split('\n') if (step := read_step(line))]
