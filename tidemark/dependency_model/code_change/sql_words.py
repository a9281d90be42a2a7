"""The words and signs of a query, without comments, spaces and the capitals of keywords and functions.

Two texts with the same words mean the same to Spark. If that is doubtful, a difference is kept: strings, numbers and
names keep their spelling (`to_json` prints the names of columns), and so does a keyword in the place of a name. This is
not a parser, because it runs for every query whenever Dagster loads a project.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.lineage.sql_pieces import sql_pieces

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
"""Words whose capitals never matter."""
_BEFORE_ITEM: Final = frozenset({"(", ",", ".", "[", "select", "distinct", "as"})
_AFTER_ITEM: Final = frozenset({")", ",", ".", "]", "from", "as", ""})
_SIGNS: Final = frozenset("+-*/%=<>!|&^~?:")
_OPERATORS: Final = (
    *("<=>", ">>>", "<>", "<=", ">=", "!=", "==", "||", "->", "=>", "::", "<<", ">>", "!<", "!>", "&&", "|>", ":="),
)
_WORD: Final = re.compile(
    r"""(?P<number>(?:\d+\.\d*|\.\d+|\d+)(?:[eE][+-]?\d+)?\w*)
    |(?P<word>\w+)
    |(?P<sign>/\*|"""
    + "|".join(map(re.escape, _OPERATORS))
    + r"""|\S)""",
    re.VERBOSE,
)
"""`/*` in code begins a hint, because other comments are separate pieces."""


@lru_cache(maxsize=4096)
def sql_words(text: str) -> tuple[str, ...]:
    """The words and signs of a query in order, such as `select`, `amount`, `'a b'`, `<=`."""
    kinds = list(_kinds(text))
    words = [word.lower() if kind == "word" else word for kind, word in kinds]
    return tuple(
        _spelled(word, (words[at - 1] if at else ""), (words[at + 1] if at + 1 < len(words) else ""))
        if kind == "word"
        else word
        for at, (kind, word) in enumerate(kinds)
    )


def _kinds(text: str) -> Iterator[tuple[str, str]]:
    for piece in sql_pieces(text):
        if piece.kind == "code":
            for match in _WORD.finditer(text, piece.start, piece.end):
                yield str(match.lastgroup), match[0]
        elif piece.kind != "comment":
            yield piece.kind, text[piece.start : piece.end]


def _spelled(word: str, before: str, after: str) -> str:
    """The word in lower case if its capitals certainly do not matter."""
    small = word.lower()
    if small in _SURE or (after == "(" and before != "."):
        return small
    if small not in _KEYWORDS:
        return word
    follows = before in _BEFORE_ITEM or before[:1] in _SIGNS
    is_followed = after in _AFTER_ITEM or after[:1] in _SIGNS
    return word if follows and is_followed else small
