"""Pieces of a Spark SQL text: code, strings, quoted names and comments. The only lexer of that grammar here.

It follows Spark's `SqlBaseLexer.g4`. Comments nest, hints are code, and a raw string has no escapes. A string or a name
in back quotes may contain its doubled quote. Tests compare it with Spark's own lexer. It does not parse, because it
runs for every query whenever Dagster loads a project.
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
    """One piece: the range of its characters in the text."""

    kind: PieceKind
    start: int
    end: int


def sql_pieces(text: str) -> Iterator[SqlPiece]:
    """All pieces of a text. A comment without an end goes to the end of the text; an open quote is code."""
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
    """The position after a comment in `/* */`."""
    depth = 1
    while depth and (match := _BLOCK.search(text, at)):
        depth += -1 if match[0] == "*/" else 1
        at = match.end()
    return at if not depth else len(text)
