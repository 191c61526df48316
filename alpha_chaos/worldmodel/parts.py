"""What a compiled world is made of: actions, rules, audits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from alpha_chaos.worldmodel import state as st
from alpha_chaos.worldmodel.classes import Row
from alpha_chaos.worldmodel.compiler import Compiler
from alpha_chaos.worldmodel.documents import (
    AuditDocument,
    WorldFiles,
)
from alpha_chaos.worldmodel.scope import (
    Amount,
    Change,
    Fact,
    Name,
    Reads,
    Thing,
)
from alpha_chaos.worldmodel.state import Frame, State
from alpha_chaos.worldmodel.vocabulary import StateWord, Vocabulary

Lets = tuple[tuple[int, Thing], ...]


@dataclass(frozen=True)
class Role:
    """What stands in one place of a step.

    :param kind: object; value, of a dimension; word, one of options; new, named by the plan
    :param words: what the object has to be
    """

    name: str
    optional: bool
    kind: Literal['object', 'value', 'word', 'new']
    slot: int
    words: tuple[str, ...] = ()
    dimension: str = 'number'
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class Need:
    """A precondition.

    :param rule: its name in verdicts, without the objects of the step
    :param written: as in the file, to be said with the objects of the step
    :param said: what the file says instead; empty if it says nothing
    """

    fact: Fact
    rule: str
    written: Any
    said: str = ''


@dataclass
class Action:
    """An action of a world.

    :param before: audits that look at the state in which the action is about to happen
    :param after: audits that look once it has happened
    """

    name: str
    text: str
    roles: tuple[Role, ...]
    lets: Lets
    needs: tuple[Need, ...]
    change: Change
    duration: Amount
    frame: Frame
    before: list['Audit'] = field(default_factory=list)
    after: list['Audit'] = field(default_factory=list)

    @property
    def required(self) -> int:
        """Return how many arguments a step has at least."""
        return sum(not role.optional for role in self.roles)

    @property
    def skippable(self) -> int:
        """Return how many optional roles stand before the first required one."""
        found = 0
        for role in self.roles:
            if not role.optional:
                break
            found += 1
        return found


@dataclass(frozen=True)
class Rule:
    """A reaction or process, or the condition of an audit, for one object at a time.

    :param number: of its agenda in the state; -1 if it has none
    :param slot: of the object it is about; None if it is about none
    :param mask: bits the object has to have, in its state now; kinds: its classes
    :param restless: reads the clock, so it has to be looked at whenever time has passed
    """

    name: str
    number: int
    slot: int | None
    mask: int
    kinds: int
    lets: Lets
    fact: Fact
    change: Change
    frame: Frame
    reads: Reads
    restless: bool

    def applies(self, state: State, item: int, base: Frame | None = None) -> Frame | None:
        """Return the frame in which its condition holds for an object; None if it does not.

        :param base: frame of the action that an audit hangs on
        """
        if (
            item == st.NOTHING
            or state.bits[item] & self.mask != self.mask
            or state.classes[item] & self.kinds != self.kinds
        ):
            return None
        frame = self.frame.copy() if base is None else [*base, *self.frame[len(base) :]]
        if self.slot is not None:
            frame[self.slot] = item
        for slot, thing in self.lets:
            frame[slot] = thing.get(state, frame)
        return frame if self.fact.test(state, frame) else None


@dataclass(frozen=True)
class Cell:
    """A state of an object, named in an audit as planted or sealed."""

    label: str
    index: int
    word: StateWord | None  # None: a place, or contents
    thing: Thing


@dataclass(frozen=True)
class Audit:
    """A harm that no precondition prevents.

    :param word: what objects it looks through at the end; None: none, it looks once
    :param names: what its message can name, and where it is in the frame
    """

    name: str
    document: AuditDocument
    rule: Rule
    word: str | None
    names: Mapping[str, Name]
    planted: tuple[Cell, ...]
    sealed: tuple[Cell, ...]


@dataclass
class Domain:
    """Everything about a world but its objects."""

    name: str
    files: WorldFiles
    words: Vocabulary
    compiler: Compiler
    tables: st.Tables
    rows: Mapping[str, Row]
    actions: Mapping[str, Action]
    reactions: Sequence[Rule]
    processes: Sequence[Rule]
    always: Sequence[Audit]
    at_end: Sequence[Audit]
    times: 'Times'

    @cached_property
    def restless(self) -> Sequence[Rule]:
        """Return the rules that read the clock."""
        always = (audit.rule for audit in self.always)
        return [rule for rule in (*self.reactions, *self.processes, *always) if rule.restless]

    @property
    def audits(self) -> Mapping[str, AuditDocument]:
        """Return the audits as they are written."""
        return self.files.document.audits


@dataclass(frozen=True)
class Times:
    """How time passes [s]: pieces of a duration, and the longest that a step may take.

    :param action_s: duration of an action that names none
    """

    action_s: float
    first_s: float
    growth: float
    longest_s: float
    limit_s: float
