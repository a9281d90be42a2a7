"""Random queries and random edits of them: some change nothing, some add, rename or change columns or rows."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Sequence

TABLES: Final = {
    "sales": "SELECT i AS id, i % 7 AS a, (i * 13) % 11 AS b, i % 3 AS k, substr('ABcA', 1 + (i % 4)::INT, 1) AS s"
    " FROM range(60) r(i)",
    "users": "SELECT i AS k, i * 100 AS c, substr('xyz', 1 + i::INT, 1) AS name FROM range(3) r(i)",
}
"""What the queries read, in DuckDB's SQL."""
_VALUES: Final = (
    *("a", "b", "a + b", "a * 2", "a - b", "coalesce(a, 0)", "abs(b - 5)", "CASE WHEN a > 3 THEN b ELSE 0 END"),
    *("upper(s)", "s || 'x  y'", "concat(s, '-')", "CAST(a AS BIGINT)", "TRY_CAST(s AS INT)", "a % 2", "length(s)"),
    *("CASE WHEN s = 'A' THEN 'A ' ELSE 'a' END", "1", "'--'", "a IS DISTINCT FROM b"),
)
_AGGREGATES: Final = (
    *("sum(a)", "count(*)", "max(b)", "min(a)", "sum(a + b)", "sum(CASE WHEN s = 'A' THEN 1 ELSE 0 END)"),
    *("count(DISTINCT s)", "max(upper(s))", "sum(a) - min(b)"),
)
_WHERE: Final = ("a > 1", "b <= 8", "s <> 'B'", "a + b > 4 AND NOT s = 'C'", "k IN (0, 1)", "s LIKE 'A%' OR a > 2")
_NAMES: Final = ("total", "v1", "Part", "y2", "other_name", "z_9", "a", "b")
_KEYWORDS: Final = re.compile(
    r"\b(SELECT|FROM|WHERE|GROUP|BY|AS|CASE|WHEN|THEN|ELSE|END|AND|OR|NOT|IN|LIKE|JOIN|ON|DISTINCT|LEFT|WITH)\b"
)
_STRING: Final = re.compile(r"'[^']*'")
_COMMENTS: Final = ("-- of the day\n", "/* it's all */", "/* SELECT 2 */", "-- 'a\n")


class Edit(Enum):
    """What an edit is meant to do."""

    NOTHING = "no-op"
    ADDITION = "additive"
    RENAMING = "renaming"
    CHANGE = "changing"


@dataclass(frozen=True)
class RandomQuery:
    """A SELECT; `group` are the keys, which the first columns hold, `source` is what stands after FROM."""

    columns: tuple[tuple[str, str], ...]
    source: str
    where: str = ""
    group: tuple[str, ...] = ()
    is_distinct: bool = False

    def __str__(self) -> str:
        listed = ", ".join(f"{value} AS {name}" for value, name in self.columns)
        where = f" WHERE {self.where}" if self.where else ""
        group = f" GROUP BY {', '.join(self.group)}" if self.group else ""
        return f"SELECT {'DISTINCT ' * self.is_distinct}{listed} FROM {self.source}{where}{group}"  # noqa: S608 - of words of ours

    @property
    def names(self) -> set[str]:
        return {name.lower() for _, name in self.columns}


def random_query(chance: random.Random) -> RandomQuery:
    names = chance.sample(_NAMES, k=4)
    source = chance.choice(("sales", "(SELECT * FROM sales WHERE id < 50) AS sales", "sales JOIN users USING (k)"))
    where = chance.choice(("", *_WHERE))
    if chance.random() < 0.5:
        columns = [(key, key) for key in ("k",)] + list(zip(chance.sample(_AGGREGATES, k=3), names, strict=False))
        columns = [(value, name if name not in ("a", "b") else f"{name}_") for value, name in columns]
        return RandomQuery(tuple(columns), source, where, ("k",))
    return RandomQuery(tuple(zip(chance.sample(_VALUES, k=3), names, strict=False)), source, where)


def random_edit(chance: random.Random, query: RandomQuery) -> tuple[Edit, str]:
    """What was done to the query, and its text after that."""
    kind = chance.choice(list(Edit))
    if kind is Edit.NOTHING:
        return kind, _laid_out(chance, str(query))
    if kind is Edit.ADDITION:
        at = chance.randint(1, len(query.columns))
        more = (chance.choice(_values(query)), _fresh(chance, query))
        return kind, str(replace(query, columns=(*query.columns[:at], more, *query.columns[at:])))
    if kind is Edit.RENAMING:
        at = chance.randrange(len(query.columns))
        return kind, str(_with_column(query, at, (query.columns[at][0], _fresh(chance, query))))
    edited = chance.choice(_CHANGES)(chance, query)
    return kind, str(edited)


def _laid_out(chance: random.Random, text: str) -> str:
    """Other spaces, comments and capitals of keywords, outside of strings."""
    pieces, at = list[str](), 0
    for match in _STRING.finditer(text):
        pieces += [_shaken(chance, text[at : match.start()]), match[0]]
        at = match.end()
    return "".join((*pieces, _shaken(chance, text[at:])))


def _shaken(chance: random.Random, text: str) -> str:
    text = _KEYWORDS.sub(lambda match: match[0].lower() if chance.random() < 0.5 else match[0], text)
    gaps = (" ", " ", "\n", "  ", "\t", *(f" {comment} " for comment in _COMMENTS))
    text = re.sub(r" ", lambda _: chance.choice(gaps), text)
    return re.sub(r",", lambda _: chance.choice((",", " ,", ",\n")), text)


def _values(query: RandomQuery) -> Sequence[str]:
    return _AGGREGATES if query.group else _VALUES


def _fresh(chance: random.Random, query: RandomQuery) -> str:
    return chance.choice([name for name in ("extra", "w_1", "Q", "name_", "z9") if name.lower() not in query.names])


def _with_column(query: RandomQuery, at: int, column: tuple[str, str]) -> RandomQuery:
    return replace(query, columns=(*query.columns[:at], column, *query.columns[at + 1 :]))


def _other_value(chance: random.Random, query: RandomQuery) -> RandomQuery:
    at = chance.randrange(bool(query.group), len(query.columns))
    return _with_column(query, at, (chance.choice(_values(query)), query.columns[at][1]))


def _small_change(chance: random.Random, query: RandomQuery) -> RandomQuery:
    """A sign, a number, a capital or a space in a string, a cast."""
    swaps = [("TRY_CAST", "CAST"), ("CAST", "TRY_CAST"), ("'A'", "'a'"), ("x  y", "x y"), ("'A '", "'A'"), ("+", "-")]
    swaps += [("> ", ">= "), ("2", "3"), ("sum", "min"), ("1", "1.0"), ("DISTINCT s", "s"), ("upper", "lower")]
    at = chance.randrange(bool(query.group), len(query.columns))
    value, name = query.columns[at]
    old, new = chance.choice([swap for swap in swaps if swap[0] in value] or [(value, f"({value})")])
    return _with_column(query, at, (value.replace(old, new, 1), name))


def _other_rows(chance: random.Random, query: RandomQuery) -> RandomQuery:
    return replace(query, where=chance.choice([where for where in _WHERE if where != query.where]))


def _without_column(chance: random.Random, query: RandomQuery) -> RandomQuery:
    at = chance.randrange(bool(query.group), len(query.columns))
    return replace(query, columns=(*query.columns[:at], *query.columns[at + 1 :]))


def _distinct(_: random.Random, query: RandomQuery) -> RandomQuery:
    return replace(query, is_distinct=not query.is_distinct)


def _other_order(_: random.Random, query: RandomQuery) -> RandomQuery:
    return replace(query, columns=query.columns[::-1])


_CHANGES: Final[tuple[Callable[[random.Random, RandomQuery], RandomQuery], ...]] = (
    *(_other_value, _small_change, _small_change, _other_rows, _without_column, _distinct, _other_order),
)
