"""Text for the middleware."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_chaos.plan import ActionPlan
from alpha_chaos.printable import printable

ANY_TEXT = st.text(st.characters(codec=None, categories=None))  # lone surrogates and NUL, too


@pytest.mark.parametrize(
    ('text', 'shown'),
    [
        ('', ''),
        ('plain \\ text\n\twith ünïcödé 🤖', 'plain \\ text\n\twith ünïcödé 🤖'),
        ('red\x00', 'red\\u0000'),
        ('\ud800 and \udfff', '\\ud800 and \\udfff'),
    ],
)
def test_only_what_cannot_be_sent_is_escaped(text: str, shown: str) -> None:
    assert printable(text) == shown


@given(ANY_TEXT)
def test_every_text_can_be_sent(text: str) -> None:
    shown = printable(text)
    assert '\x00' not in shown
    assert shown.encode().decode() == shown
    assert printable(shown) == shown


@given(ANY_TEXT)
def test_escaping_never_makes_a_plan_of_what_was_none(text: str) -> None:
    reply = f'{{"actions":[{{"action":"GRIP","block":"red{text}"}}]}}'
    before = ActionPlan.validate_raw_plan(reply).plan
    assert ActionPlan.validate_raw_plan(printable(reply)).plan == before
