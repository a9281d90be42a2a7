"""A text of Spark's SQL in pieces: its code, and what stands in quotes and comments. The one lexer of that grammar.

It follows `SqlBaseLexer.g4` of Spark: comments stand in comments, hints are code, a raw string has no escapes, a quoted
string and a name in back quotes may have their quote twice. What it says is compared with Spark's own lexer in tests.
No parser: it is asked of every query whenever Dagster loads a project.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator

PieceKind = Literal["code", "string", "name", "comment"]

_BEGIN: Final = re.compile(
    r"""(?P<comment>--(?:\\\n|[^\r\n])*+)
    |(?P<string>(?<!\w)[rR](?:'[^']*+'|"[^"]*+")
        |'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"
        |(?P<dollars>\$[A-Za-z]*\$)(?:.*?(?P=dollars)|.*))
    |(?P<name>`(?:[^`]|``)*`)
    |(?P<block>/\*(?!\+))
    |(?P<code>/\*\+|\*/|(?<!\w)[^\W\d_]++://[\w/\-.?=&\#%]+)""",
    re.VERBOSE | re.DOTALL,
)
_KINDS: Final[dict[str, PieceKind]] = {"comment": "comment", "block": "comment", "string": "string", "name": "name"}
_BLOCK: Final = re.compile(r"/\*(?!\+)|\*/")


@dataclass(frozen=True, slots=True)
class SqlPiece:
    """From where to where it goes in the text."""

    kind: PieceKind
    start: int
    end: int


def sql_pieces(text: str) -> Iterator[SqlPiece]:
    """All of a text, piece by piece. A comment that nothing closes goes to the end; an open quote is code."""
    begin = at = 0
    while match := _BEGIN.search(text, at):
        kind, at = match.lastgroup, match.end()
        if kind == "code":
            continue
        if begin < match.start():
            yield SqlPiece("code", begin, match.start())
        if kind == "block":
            at = _end_of_block(text, at)
        yield SqlPiece(_KINDS[str(kind)], match.start(), at)
        begin = at
    if begin < len(text):
        yield SqlPiece("code", begin, len(text))


def _end_of_block(text: str, at: int) -> int:
    """Behind a comment in `/* */`."""
    depth = 1
    while depth and (match := _BLOCK.search(text, at)):
        depth += -1 if match[0] == "*/" else 1
        at = match.end()
    return at if not depth else len(text)
