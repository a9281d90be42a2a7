"""A query's words and signs without what means nothing: comments, spaces, capitals of keywords and functions.

Two texts with the same words mean the same to Spark. Where that is doubtful a difference is kept: strings, numbers and
names stay as they are written (`to_json` prints the names of columns), and a keyword keeps its capitals where it stands
like a name. No parser: it is asked of every query whenever Dagster loads a project.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_KEYWORDS: Final = frozenset(
    re.findall(
        r"\w+",
        """all and anti any array as asc between by case cast cross cube current desc distinct div else end
        escape except exists extract false filter first following for from full group grouping having ilike in
        inner insert intersect interval into is join last lateral left like limit map minus natural not null
        nulls offset on or order outer over overwrite partition pivot preceding qualify range regexp right
        rlike rollup row rows select semi sets sort struct table tablesample then true try_cast unbounded union
        unpivot using values view when where window with within""",
    )
)
_SURE: Final = frozenset({"null", "true", "false", "select"})
"""Whose capitals mean nothing wherever they stand."""
_BEFORE_ITEM: Final = frozenset({"(", ",", ".", "[", "select", "distinct", "as"})
_AFTER_ITEM: Final = frozenset({")", ",", ".", "]", "from", "as", ""})
_SIGNS: Final = frozenset("+-*/%=<>!|&^~?:")
_OPERATORS: Final = (
    *("<=>", ">>>", "<>", "<=", ">=", "!=", "==", "||", "->", "=>", "::", "<<", ">>", "!<", "!>", "&&", "|>", ":="),
)
_WORD: Final = re.compile(
    r"""(?P<space>\s+)
    |(?P<line>--(?:\\\r?\n|[^\r\n])*)
    |(?P<block>/\*)
    |(?P<string>[rR]'[^']*'|[rR]"[^"]*"|'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"|`(?:[^`]|``)*`)
    |(?P<number>(?:\d+\.\d*|\.\d+|\d+)(?:[eE][+-]?\d+)?\w*)
    |(?P<word>\w+)
    |(?P<operator>"""
    + "|".join(map(re.escape, _OPERATORS))
    + r""")
    |(?P<sign>.)""",
    re.VERBOSE | re.DOTALL,
)
_BLOCK: Final = re.compile(r"/\*|\*/")
_HINT: Final = "/*+"
_DOLLARS: Final = re.compile(r"\$\w*\$")


@lru_cache(maxsize=4096)
def sql_words(text: str) -> tuple[str, ...]:
    """The words and signs of a query in order, such as `select`, `amount`, `'a b'`, `<=`.

    A text with strings in dollars is one word: what stands in them is not looked at.
    """
    if _DOLLARS.search(text):
        return (text,)
    kinds = list(_kinds(text))
    words = [word.lower() if kind == "word" else word for kind, word in kinds]
    return tuple(
        _spelled(word, (words[at - 1] if at else ""), (words[at + 1] if at + 1 < len(words) else ""))
        if kind == "word"
        else word
        for at, (kind, word) in enumerate(kinds)
    )


def without_comments(text: str) -> str:
    """The text with a space for each comment: parsers trip over some of them."""
    return "".join(" " if kind in ("line", "block") else piece for kind, piece in _pieces(text))


def _kinds(text: str) -> Iterator[tuple[str, str]]:
    return ((kind, piece) for kind, piece in _pieces(text) if kind not in ("space", "line", "block"))


def _pieces(text: str) -> Iterator[tuple[str, str]]:
    """All of a text, piece by piece; a comment is a `line` or a `block`, a hint is none."""
    at = 0
    while match := _WORD.match(text, at):
        kind, end = str(match.lastgroup), match.end()
        if kind == "block":
            is_hint = text.startswith(_HINT, at)
            kind, end = ("sign", end) if is_hint else (kind, _end_of_block(text, end))
        yield kind, text[at:end]
        at = end


def _end_of_block(text: str, at: int) -> int:
    """Behind a comment in `/* */`: in Spark comments stand in comments."""
    depth = 1
    while depth and (match := _BLOCK.search(text, at)):
        depth += 1 if match[0] == "/*" else -1
        at = match.end()
    return at if not depth else len(text)


def _spelled(word: str, before: str, after: str) -> str:
    """A word as it counts: in small letters where its capitals mean nothing for sure."""
    small = word.lower()
    if small in _SURE or (after == "(" and before != "."):
        return small
    if small not in _KEYWORDS:
        return word
    follows = before in _BEFORE_ITEM or before[:1] in _SIGNS
    is_followed = after in _AFTER_ITEM or after[:1] in _SIGNS
    return word if follows and is_followed else small
