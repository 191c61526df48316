"""An answer is not what the server said."""

from typing import ClassVar, Literal

from pydantic import Field, JsonValue

from alpha_chaos.transit.base import (
    ANSWER_SIDES,
    Need,
    Parcel,
    Passage,
    Side,
    Strike,
    TransitFault,
    TransitInjector,
)
from alpha_chaos.transit.content import fill


class WrongResponse(TransitFault):
    """Fields of a response or a result get other values. What the server did, it has done."""

    sides: ClassVar[tuple[Side, ...]] = ANSWER_SIDES

    kind: Literal['wrong_response'] = 'wrong_response'
    values: dict[str, JsonValue] = Field(
        min_length=1,
        description="new values, by path: `{success: true}`; of an action's result "
        '`{result.error: 0.0, status: 4}`',
    )

    @property
    def needs(self) -> dict[str, Need]:
        """The fields that are written."""
        return dict.fromkeys(self.values, 'field')

    @property
    def writes(self) -> dict[str, JsonValue]:
        """The new values."""
        return self.values


class WrongResponseInjector(TransitInjector):
    """Rewrites what is struck."""

    fault: WrongResponse

    def strike(self, parcel: Parcel, now_ns: int) -> Strike:
        """Write the values."""
        fields = parcel.fields()
        fill(fields, self.fault.values)
        return Strike((Passage(parcel.replaced(fields), now_ns),))


WrongResponse.injector_type = WrongResponseInjector
WrongResponse.example = WrongResponse(values={'number': -1})
