"""A goal is rejected, and the action's server never hears of it."""

from typing import ClassVar, Literal

from numpy.random import Generator

from alpha_chaos.transit.base import Parcel, Passage, Side, Strike, TransitFault, TransitInjector


class RejectGoal(TransitFault):
    """The client learns what a server says that does not accept a goal."""

    sides: ClassVar[tuple[Side, ...]] = ('goal',)

    kind: Literal['reject_goal'] = 'reject_goal'

    def injector(self, draws: Generator, amounts: Generator, now_ns: int) -> 'RejectGoalInjector':
        """Return an injector."""
        return RejectGoalInjector(self, draws, amounts, now_ns)


class RejectGoalInjector(TransitInjector):
    """Answers in the server's place."""

    def strike(self, parcel: Parcel, now_ns: int) -> Strike:
        """Reject it: an empty answer says `accepted: false`."""
        return Strike((Passage(parcel, now_ns, parcel.blank_answer()),))


RejectGoal.example = RejectGoal()
