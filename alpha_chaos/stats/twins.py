"""A faulty cell against its fault-free control: the same arm, the same worlds, the same draws."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from alpha_chaos.journal import Row
from alpha_chaos.stats.difference import Draws
from alpha_chaos.stats.mcnemar import holm
from alpha_chaos.stats.paired import Pair, Paired, Unpaired, counted, without_result

OTHER_SEEDS = 'other seeds'


@dataclass(frozen=True, kw_only=True)
class Twin(Paired):
    """One faulty cell of an arm (first) and its control (second), episode by episode.

    :param control: name of the condition without a fault
    :param p_holm: exact p over all pairs, corrected for the number of the arm's conditions
    """

    arm: str
    condition: str
    control: str
    unpaired: tuple[Unpaired, ...]
    p_holm: float | None = None

    @property
    def why(self) -> str:
        """Why there is not one pair, empty if there is one."""
        if self.pairs:
            return ''
        return ', '.join(dict.fromkeys(item.why for item in self.unpaired))


def _twin(
    arm: str,
    condition: str,
    control: str,
    faulty: Mapping[int, Row],
    controls: Mapping[int, Row],
    draws: Draws,
) -> Twin:
    pairs, unpaired = [], []
    for index, row in faulty.items():
        other = controls.get(index)
        why = without_result(condition, row) or without_result(control, other)
        if other is None or why:
            unpaired.append(Unpaired(row.run_id, why))
        elif row.seed != other.seed:
            unpaired.append(Unpaired(row.run_id, OTHER_SEEDS))
        else:
            pairs.append(Pair(row, other))
    return Twin(
        arm=arm,
        condition=condition,
        control=control,
        unpaired=tuple(unpaired),
        **vars(counted(pairs, draws)),
    )


def twins(results: Sequence[Row], arm: str, draws: Draws) -> tuple[Twin, ...]:
    """Return each cell of an arm that has a control beside that control.

    Episode i of a cell and episode i of its control are twins if their seeds are equal. In an
    experiment whose seeds differ from cell to cell, as the paper's, there are none: every `Twin`
    then has no pair, and says why.

    :param results: the attempts that count, of any arm
    :param draws: seeded generator for the intervals, made anew
    """
    cells: dict[str, dict[int, Row]] = {}
    controls: dict[str, str] = {}
    for row in results:
        if row.arm == arm:
            cells.setdefault(row.condition, {})[row.episode_index] = row
            if row.control and row.control != row.condition:
                controls.setdefault(row.condition, row.control)
    found = [
        _twin(arm, condition, control, cells[condition], cells.get(control, {}), draws)
        for condition, control in controls.items()
    ]
    corrected = holm([item.test.p_exact if item.test else None for item in found])
    return tuple(replace(item, p_holm=p) for item, p in zip(found, corrected, strict=True))
