"""Properties and states as bits."""


class Words:
    """Bits of property and state words, given out as they come."""

    def __init__(self) -> None:
        self._bits: dict[str, int] = {}

    def __call__(self, *words: str) -> int:
        """Return the mask of some words."""
        mask = 0
        for word in words:
            mask |= self._bits.setdefault(word, 1 << len(self._bits))
        return mask

    def spelled(self, mask: int) -> list[str]:
        """Return the words of a mask, in the order of the alphabet."""
        return sorted(word for word, bit in self._bits.items() if mask & bit)


P = Words()  # properties
S = Words()  # states

RECEPTACLE, CONTAINER, SURFACE = P('receptacle'), P('container'), P('surface')
GRABBABLE, EDIBLE, POURABLE, PROTEIN = P('grabbable'), P('edible'), P('pourable'), P('protein')
LIQUID = P('pourable', 'fillable_source')
RAW, COOKED, HOT, OPEN, ON, OFF = S('raw'), S('cooked'), S('hot'), S('open'), S('on'), S('off')
EMPTY, FILLED, DIRTY, CLEAN, WET = S('empty'), S('filled'), S('dirty'), S('clean'), S('wet')
