"""Text that survives the middleware."""

import re

# A NUL ends a string in transit without a word; a lone surrogate has no UTF-8 form and raises.
_UNSENDABLE = re.compile('[\x00\ud800-\udfff]')


def printable(text: str) -> str:
    r"""Return `text` with every NUL and lone surrogate written as a `\uXXXX` escape.

    All other text comes back unchanged. The result is for sending and showing; keep the original
    for the record, the escape cannot be told from one that was there before.
    """
    return _UNSENDABLE.sub(lambda match: f'\\u{ord(match.group()):04x}', text)
