"""The text of a plan is damaged between planner and parser."""

import json
from collections import Counter
from dataclasses import dataclass
from typing import Literal

from numpy.random import Generator
from pydantic import Field, JsonValue

from alpha_chaos.faults.base import Call, Decision, Evidence, Fault, Injector

KEYS = ('action', 'target', 'block')  # without any of these no plan is valid
GARBAGE = ('}}', ',]', '{"action":', ']}<|end|>')  # what decoders leave behind a finished object


class PlanCorruption(Fault):
    """Drop the required keys from a plan, cut it short, or write garbage behind it.

    Touches text only. A typed plan has none, and passes; the draws are made all the same, so that
    both arms of a pair draw the same numbers.
    """

    kind: Literal['plan_corruption'] = 'plan_corruption'
    planners: tuple[str, ...] = Field(
        default=('oracle_planner/plan', 'llm_planner/plan'), description='services that are hit'
    )
    cut_share: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description='share of corruptions that hit the syntax, half cut short, half garbage [1]',
    )

    @property
    def routes(self) -> tuple[str, ...]:
        """The services that answer with a plan."""
        return self.planners

    def injector(self, draws: Generator) -> Injector:
        """Return an injector; all it remembers is what it did."""
        return _Corruption(self, draws)


PlanCorruption.example = PlanCorruption(cut_share=0.5)


@dataclass(frozen=True)
class _Damage:
    text: str
    kind: str
    detail: dict[str, JsonValue]


class _Corruption(Injector):
    def __init__(self, fault: PlanCorruption, draws: Generator) -> None:
        super().__init__()
        self._fault = fault
        self._draws = draws
        self._texts = 0

    def on_response(self, call: Call) -> None:
        if call.response is None:
            return
        # Four numbers for each answer, used or not: a second answer draws the same in every arm.
        draw, syntax, cut, where = (float(number) for number in self._draws.random(4))
        text = str(call.response.get('text'))
        detail: dict[str, JsonValue]
        triggered = False
        if call.response.get('typed'):
            detail = {'bypassed': 'typed plan'}
        elif call.response.get('error'):
            detail = {'bypassed': 'no answer'}
        else:
            self._texts += 1
            detail = {}
            if triggered := draw < self._fault.probability:
                damage = _damage(text, syntax < self._fault.cut_share, cut < 0.5, where)
                call.response.set('text', damage.text)
                detail = {'kind': damage.kind, **damage.detail}
        self._decide(Decision('plan_corruption', self._fault.probability, draw, triggered, detail))

    def evidence(self) -> Evidence:
        """Return whether any text came by that could have been hit."""
        return Evidence(self._texts > 0, self._tally() | {'texts': self._texts})


def _damage(text: str, syntax: bool, cut: bool, where: float) -> _Damage:
    """Return a text that differs and is no plan, whatever `text` was.

    :param where: in [0, 1), picks the place of the cut or the garbage
    """
    if not syntax:
        dropped = _without_keys(text)
        if dropped is not None:
            return dropped
        cut = True
    # No plan ends before its last brace, so whatever is left of a cut in front of it is none.
    end = text.rfind('}') if '}' in text else len(text.rstrip()) - 1
    if cut and end > 0:
        at = 1 + int(where * end)
        return _Damage(text[:at], 'truncate', {'characters': len(text), 'left': at})
    garbage = GARBAGE[int(where * len(GARBAGE))]
    return _Damage(text + garbage, 'garbage', {'characters': len(text), 'appended': garbage})


def _without_keys(text: str) -> _Damage | None:
    """Return the text with the required keys gone from its JSON; None if it has none of them."""
    start, end = text.find('{'), text.rfind('}') + 1
    counts: Counter[str] = Counter()

    def kept(pairs: list[tuple[str, object]]) -> dict[str, object]:
        counts.update(key for key, _ in pairs if key in KEYS)
        return {key: value for key, value in pairs if key not in KEYS}

    try:
        rest = json.dumps(json.loads(text[start:end], object_pairs_hook=kept))
    except (ValueError, RecursionError):  # not JSON, or no JSON that Python would read
        return None
    if not counts:
        return None
    dropped: dict[str, JsonValue] = {key: counts[key] for key in KEYS}
    return _Damage(text[:start] + rest + text[end:], 'drop_keys', {'dropped': dropped})
