"""What `--help` says: written as Markdown, so that paragraphs fill the line."""

from collections.abc import Iterator
from typing import Any

import pytest
import typer.main

from alpha_chaos.cli import app


def texts(command: Any) -> Iterator[str]:
    """Return everything that the help of a command and of those below it says."""
    yield command.help or ''
    for parameter in command.params:
        yield getattr(parameter, 'help', '') or ''
    for below in getattr(command, 'commands', {}).values():
        yield from texts(below)


@pytest.mark.parametrize('sign', ['<', '*'])
def test_no_word_of_it_is_taken_for_markup(sign: str) -> None:
    told = list(texts(typer.main.get_command(app)))
    assert len(told) > 50
    assert [text for text in told if sign in text.replace('soup_*', '')] == []
