"""A query's characters, without a parser: quotes and comments, brackets, places."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.lineage.bound_expression import Place
from tidemark.dependency_model.lineage.sql_pieces import sql_pieces

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidemark.dependency_model.lineage.sql_pieces import PieceKind

_WORD: Final = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class SqlWord:
    """A word or a sign of a text; `text` is in capitals. A bracket has the depth of the text around it."""

    text: str
    start: int
    end: int
    depth: int


def place_at(text: str, position: int) -> Place:
    """The place of a character."""
    return Place(text.count("\n", 0, position) + 1, position - text.rfind("\n", 0, position))


@lru_cache(maxsize=16)
def code_of(text: str) -> str:
    """The text with spaces for strings, names in back quotes and comments."""
    return _with_spaces_for(text, "string", "name", "comment")


@lru_cache(maxsize=16)
def code_and_names_of(text: str) -> str:
    """The text with spaces for strings and comments."""
    return _with_spaces_for(text, "string", "comment")


def _with_spaces_for(text: str, *kinds: PieceKind) -> str:
    return "".join(spaces(part) if kind in kinds else part for kind, part in _parts(text))


def without_comments(text: str) -> str:
    """The text with one space for each comment, because parsers fail on some of them."""
    return "".join(" " if kind == "comment" else part for kind, part in _parts(text))


def without_continued_comments(text: str) -> str:
    """The text with spaces for comments continued by a backslash: parsers end them at the line's end."""
    if "\\\n" not in text:
        return text
    parts = _parts(text)
    return "".join(spaces(part) if kind == "comment" and "\\\n" in part else part for kind, part in parts)


def on_one_line(text: str) -> str:
    """The text with one space for each comment and end of line; strings and names stay."""
    parts = [(kind, " " if kind == "comment" else part) for kind, part in _parts(text)]
    return "".join(part.replace("\n", " ") if kind == "code" else part for kind, part in parts).strip()


def _parts(text: str) -> Iterator[tuple[PieceKind, str]]:
    return ((piece.kind, text[piece.start : piece.end]) for piece in sql_pieces(text))


def spaces(text: str) -> str:
    """As many spaces as the text has characters, with its line ends."""
    return re.sub(r"[^\n]", " ", text)


def leave_out(text: str, start: int, end: int) -> str:
    """The text with spaces for one part: the rest stays at its place."""
    return f"{text[:start]}{spaces(text[start:end])}{text[end:]}"


def words(code: str, start: int, end: int) -> Iterator[SqlWord]:
    """The words and signs of a part of a text without quotes and comments."""
    depth = 0
    for match in _WORD.finditer(code, start, end):
        depth -= match[0] == ")"
        yield SqlWord(match[0].upper(), match.start(), match.end(), depth)
        depth += match[0] == "("
