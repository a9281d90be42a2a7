"""Edits of a text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class TextEdit:
    """Replaces the text between two characters; with an `advice` the text stays, and a comment says what to do."""

    start: int
    end: int
    becomes: str
    words: str
    advice: str = ""


def apply_edits(text: str, edits: Iterable[TextEdit]) -> str:
    """The text with the edits, which must be sorted and disjoint."""
    parts, at = list[str](), 0
    for edit in edits:
        was = text[edit.start : edit.end]
        advice = edit.advice.replace("*/", "* /")
        parts += [text[at : edit.start], f"{was} /* not rewritten: {advice} */" if advice else edit.becomes]
        at = edit.end
    return "".join((*parts, text[at:]))
