"""A goal is not cancelled, and goes on to its end."""

from typing import ClassVar, Literal

from pydantic import Field

from alpha_chaos.transit.base import Parcel, Passage, Side, Strike, TransitFault, TransitInjector

REJECTED = 1  # action_msgs/srv/CancelGoal: ERROR_REJECTED


class IgnoreCancel(TransitFault):
    """The server never hears of the cancel. The client is told that it works, or that it does not.

    That no answer comes at all is a `drop` on side `cancel`.
    """

    sides: ClassVar[tuple[Side, ...]] = ('cancel',)

    kind: Literal['ignore_cancel'] = 'ignore_cancel'
    claims: Literal['accepted', 'rejected'] = Field(
        'accepted',
        description='what the client is told: `accepted`, which is not true, or `rejected`',
    )


class IgnoreCancelInjector(TransitInjector):
    """Answers in the server's place."""

    fault: IgnoreCancel

    def strike(self, parcel: Parcel, now_ns: int) -> Strike:
        """Swallow it."""
        answer = parcel.blank_answer()
        if self.fault.claims == 'accepted':
            answer.goals_canceling = [parcel.fields().get('goal_info')]
        else:
            answer.return_code = REJECTED
        return Strike((Passage(parcel, now_ns, answer),), {'claims': self.fault.claims})


IgnoreCancel.injector_type = IgnoreCancelInjector
IgnoreCancel.example = IgnoreCancel(claims='rejected')
