"""A service says no, and its server never hears of the request."""

from typing import ClassVar, Literal

from pydantic import Field, JsonValue

from alpha_chaos.faults.base import Fields
from alpha_chaos.transit.base import Parcel, Passage, Side, Strike, TransitFault, TransitInjector
from alpha_chaos.transit.content import fill


class Refuse(TransitFault):
    """The client gets an empty response with the values in `answer`."""

    sides: ClassVar[tuple[Side, ...]] = ('request',)

    kind: Literal['refuse'] = 'refuse'
    answer: dict[str, JsonValue] = Field(
        default_factory=dict,
        description='values in the response, by path: `{success: false, message: busy}`; the rest '
        'is empty, 0 or false',
    )

    @property
    def answers_with(self) -> dict[str, JsonValue]:
        """The values in the response."""
        return self.answer


class RefuseInjector(TransitInjector):
    """Answers in the server's place."""

    fault: Refuse

    def strike(self, parcel: Parcel, now_ns: int) -> Strike:
        """Say no."""
        answer = parcel.blank_answer()
        fill(Fields(answer), self.fault.answer)
        return Strike((Passage(parcel, now_ns, answer),))


Refuse.injector_type = RefuseInjector
Refuse.example = Refuse()
