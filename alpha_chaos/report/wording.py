"""Numbers and names as they are printed, the same in every place."""

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from itertools import zip_longest

from alpha_chaos.stats.agreement import Agreement
from alpha_chaos.stats.cells import Cell, Share
from alpha_chaos.stats.difference import Difference
from alpha_chaos.stats.intervals import Estimate, Interval, Spread
from alpha_chaos.stats.mcnemar import Detectable
from alpha_chaos.stats.notes import COPIES
from alpha_chaos.stats.paper import Condition

NOTHING = '-'
NO_ESTIMATE = 'no estimate'


def shown(text: str, encoding: str = 'utf-8') -> str:
    r"""Return `text` with every character escaped that a terminal of `encoding` cannot show.

    That includes what would steer the terminal instead of being seen: a reason may quote a model.
    """
    safe = ''.join(
        character
        if character.isprintable() or unicodedata.category(character) == 'Zs'
        else character.encode('unicode_escape').decode('ascii')
        for character in text
    )
    return safe.encode(encoding, 'backslashreplace').decode(encoding)


def agreement(item: Agreement) -> dict[str, str]:
    """Return the columns about guard, physics and safety monitor."""

    def pair(clean: bool, success: bool) -> str:
        events = item.count(clean, success, False)
        quiet = str(item.count(clean, success, True))
        return f'{quiet} + {events} with events' if events else quiet

    return {
        'agreed': counted_if_any(item.agreed),
        'kappa': known(item.kappa, lambda value: f'{value:.2f}'),
        'clean, success': pair(True, True),
        'clean, failure': pair(True, False),
        'flagged, success': pair(False, True),
        'flagged, failure': pair(False, False),
        'blocked': str(item.blocked),
        'no plan': str(item.unchecked),
    }


def percent(rate: float | None) -> str:
    """Return a rate in percent, without the sign."""
    return NOTHING if rate is None else f'{100 * rate:.1f}'


def counted(share: Share | Estimate) -> str:
    """Return `k/n`."""
    return f'{share.k}/{share.n}'


def counted_if_any(share: Share) -> str:
    """Return `k/n`, nothing when n is 0."""
    return counted(share) if share.n else NOTHING


def interval(found: Interval | tuple[float, float] | None) -> str:
    """Return an interval in percent."""
    if found is None:
        return NO_ESTIMATE
    low, high = (found.low, found.high) if isinstance(found, Interval) else found
    return f'[{percent(low)}, {percent(high)}]'


def rate_interval(cell: Cell) -> str:
    """Return the interval of a cell's success rate in percent, marked where n counts copies."""
    mark = COPIES if cell.copies and cell.result.interval else ''
    return interval(cell.result.interval) + mark


def points(found: Difference) -> str:
    """Return a difference of rates in percentage points, and its interval if there is one."""
    if found.value is None:
        return NO_ESTIMATE
    value = f'{100 * found.value:+.1f}' if found.value else '0.0'
    return f'{value} {interval(found.interval)}' if found.interval else value


def more(found: Difference, spell: Callable[[float], str] | None = None) -> str:
    """Return how much more something took, and its interval on a line of its own."""
    spell = spell or plain
    if found.value is None:
        return NOTHING
    value = f'+{spell(found.value)}' if found.value > 0 else spell(found.value)
    if found.interval is None:
        return value
    return f'{value}\n[{spell(found.interval.low)}, {spell(found.interval.high)}]'


def least(found: Detectable) -> tuple[str, str]:
    """Return the least difference that can be significant, and the one found in 80 %."""
    if found.difference is None or found.with_power is None:
        return 'none', 'none'
    return percent(found.difference), percent(found.with_power)


def p_or_nothing(p: float | None) -> str:
    """Return a p value that may not exist."""
    return NOTHING if p is None else p_value(p)


def p_value(p: float) -> str:
    """Return a p value: three significant digits, '1.00' for one."""
    if p >= 0.9995:
        return '1.00'
    if p >= 0.001:
        return f'{p:.3f}'
    mantissa, _, exponent = f'{p:.2e}'.partition('e')
    return f'{mantissa}e{int(exponent)}'


def metres(value: float) -> str:
    """Return a length to a tenth of a millimetre."""
    return f'{value:.4f}'


def seconds(value: float) -> str:
    """Return a duration to the millisecond."""
    return f'{value:.3f}'


def plain(value: float) -> str:
    """Return a number with no more digits than it is worth, and never with an exponent."""
    if value == int(value):
        return str(int(value))
    return f'{value:.1f}' if abs(value) >= 100 else f'{value:.3g}'


def spread(found: Spread | None, spell: Callable[[float], str] = plain) -> str:
    """Return the mean, and behind it the range if there is one."""
    if found is None:
        return NOTHING
    low, mean, high = spell(found.low), spell(found.mean), spell(found.high)
    return mean if low == high else f'{mean} ({low}-{high})'


def stacked(text: str) -> str:
    """Return what `spread` says with the range on a line of its own."""
    return text.replace(' (', '\n').removesuffix(')')


def beside(*columns: str) -> tuple[str, ...]:
    """Return the columns, of one or more lines each, made equally long."""
    rows = zip_longest(*(column.split('\n') for column in columns), fillvalue='')
    return tuple('\n'.join(lines) for lines in zip(*rows, strict=True))


def known(value: float | None, spell: Callable[[float], str]) -> str:
    """Return a number that may be unknown."""
    return NOTHING if value is None else spell(value)


def published_success(published: Condition | None, arm: str) -> str:
    """Return the paper's `k/n`."""
    if published is None or arm not in published.successes:
        return NOTHING
    return f'{published.successes[arm]}/{published.n}'


def broken(name: str, width: int) -> str:
    """Return a name broken at underscores into lines of at most `width` where that is possible."""
    lines = ['']
    for part in name.replace('_', '_\n').split('\n'):
        if lines[-1] and len(lines[-1]) + len(part) > width:
            lines.append('')
        lines[-1] += part
    return '\n'.join(lines)


def joined(items: Iterable[str]) -> str:
    """Return a list in words."""
    return ', '.join(items)


def first_few(items: Sequence[str], limit: int) -> str:
    """Return the first `limit` items and how many more there are."""
    more = len(items) - limit
    return joined(items[:limit]) + (f' and {more} more' if more > 0 else '')
