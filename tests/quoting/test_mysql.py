"""Names and texts of MySQL are closed by nothing that they hold."""

import pytest

from tidemark.quoting.mysql import quote, text_literal


def test_a_name_keeps_its_back_quotes() -> None:
    assert quote("a`b") == "`a``b`"


@pytest.mark.parametrize(
    ("text", "literal"), [("plain", "'plain'"), ("it's", "'it''s'"), ("a\\", r"'a\\'"), ("\\'; --", r"'\\''; --'")]
)
def test_a_text_cannot_end_its_literal(text: str, literal: str) -> None:
    assert text_literal(text) == literal
