"""Plans as text: `k. [ACTION] <class_name> (id) ...`, one step a line.

Whatever is given, a list of steps and of complaints comes back, in time proportional to its
length: a plan is what a language model wrote, so what is wrong with it is a result.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

MAX_BYTES = 32_000_000
MAX_STEPS = 10_000
MAX_LINE = 2_000  # characters; a step of four long names has about 200

_ACTION = re.compile(r'\[(\w+)\]')
_ARGUMENT = re.compile(r'<([\w.-]+)>\s*(?:\((\w+)\))?')  # values may have a point and a sign

Arguments = tuple[tuple[str, str], ...]  # name and id; the id is empty for values


class PlanStep(NamedTuple):
    """One step as it was written."""

    action: str
    arguments: Arguments

    @property
    def text(self) -> str:
        """Return the step in the spelling of plans."""
        words = (f'<{name}> ({id_})' if id_ else f'<{name}>' for name, id_ in self.arguments)
        return ' '.join((f'[{self.action.upper()}]', *words))


@dataclass(frozen=True)
class Complaint:
    """Something that keeps a text, or a part of it, from being a plan.

    :param step: number of the step; 0 for the text as a whole
    """

    step: int
    rule: str
    message: str


@dataclass(frozen=True)
class Plan:
    """The steps of a plan, and what is wrong with its text.

    :param lines: one a step, without its number; a line with brackets and no action is none
    """

    lines: tuple[str, ...]
    complaints: tuple[Complaint, ...] = ()

    @classmethod
    def of(cls, steps: Iterable[PlanStep]) -> 'Plan':
        """Return the plan of some steps."""
        return cls(tuple(step.text for step in steps))

    @cached_property
    def steps(self) -> tuple[PlanStep, ...]:
        """Return the steps."""
        return tuple(step for step in map(read_step, self.lines) if step is not None)


def read_step(line: str, argument: re.Pattern[str] = _ARGUMENT) -> PlanStep | None:
    """Return the step on a line; None if there is none on it.

    :param argument: what an argument looks like, with groups for name and id
    """
    action = _ACTION.search(line)
    if action is None:
        return None
    return PlanStep(action[1].lower(), tuple(argument.findall(line)))


def read_plan(text: str | bytes) -> Plan:
    """Return the plan that a text is."""
    if len(text) > MAX_BYTES:
        message = f'the plan has {len(text)} bytes; more than {MAX_BYTES} are not read'
        return Plan((), (Complaint(0, 'too_long', message),))
    if isinstance(text, bytes):
        try:
            text = text.decode('utf-8-sig')
        except UnicodeDecodeError as error:
            message = f'the plan is no text: byte {error.start} is not UTF-8'
            return Plan((), (Complaint(0, 'not_text', message),))
    if '\0' in text:
        message = f'the plan is no text: character {text.index(chr(0))} is NUL'
        return Plan((), (Complaint(0, 'not_text', message),))
    lines: list[str] = []
    complaints: list[Complaint] = []
    for line in text.replace('\r\n', '\n').replace('\r', '\n').split('\n'):
        start = line.find('[')
        if start < 0:
            continue
        if len(line) > MAX_LINE:
            message = f'a line of {len(line)} characters is no step; {MAX_LINE} are enough'
            complaints.append(Complaint(len(lines) + 1, 'line_too_long', message))
            continue
        if len(lines) == MAX_STEPS:
            message = f'the plan has more than {MAX_STEPS} steps; the rest is not carried out'
            complaints.append(Complaint(MAX_STEPS, 'too_many_steps', message))
            break
        lines.append(line if '<' in line[:start] else line[start:])
    if not complaints and text.strip() and not any(map(_ACTION.search, lines)):
        message = 'the text has no step, such as: 1. [GRAB] <cup> (1)'
        complaints.append(Complaint(0, 'no_steps', message))
    return Plan(tuple(lines), tuple(complaints))


def read_plan_file(path: Path) -> Plan:
    """Return the plan in a file.

    :raises OSError: if the file cannot be read
    """
    with path.open('rb') as file:
        return read_plan(file.read(MAX_BYTES + 1))
