"""A goal is rejected, and the action's server never hears of it."""

from typing import ClassVar, Literal

from alpha_chaos.transit.base import Parcel, Passage, Side, Strike, TransitFault, TransitInjector


class RejectGoal(TransitFault):
    """The client learns what a server says that does not accept a goal."""

    sides: ClassVar[tuple[Side, ...]] = ('goal',)

    kind: Literal['reject_goal'] = 'reject_goal'


class RejectGoalInjector(TransitInjector):
    """Answers in the server's place."""

    def strike(self, parcel: Parcel, now_ns: int) -> Strike:
        """Reject it: an empty answer says `accepted: false`."""
        return Strike((Passage(parcel, now_ns, parcel.blank_answer()),))


RejectGoal.injector_type = RejectGoalInjector
RejectGoal.example = RejectGoal()
