"""The list of a SELECT: the name, words and tree of each column, and the words around the list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from sqlglot import exp

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")


@dataclass(frozen=True)
class SelectList:
    """`names` in lower case and in order; `values` has the words of each column without its alias.

    `*` has the name `*`, `t.*` has the name `t.*`.
    """

    names: tuple[str, ...]
    values: Mapping[str, tuple[str, ...]]
    nodes: Mapping[str, exp.Expr]
    head: tuple[str, ...]
    tail: tuple[str, ...]

    @property
    def is_distinct(self) -> bool:
        """Whether the list has DISTINCT and so affects the rows."""
        return self.head[-1:] == ("distinct",)

    @classmethod
    def of(cls, query: exp.Expr, words: Sequence[str]) -> Self | None:
        """The list of a parsed query. None if it is not a single SELECT, or a column has no name."""
        place = _place(words)
        if not isinstance(query, exp.Select) or place is None:
            return None
        items, nodes = list(_items(words[place.start : place.stop])), query.expressions
        names = [_name(node) for node in nodes]
        if len(items) != len(nodes) or len({*names}) != len(names) or not all(names):
            return None
        values = {name: _value(node, item) for name, node, item in zip(names, nodes, items, strict=True)}
        by_name = dict(zip(names, nodes, strict=True))
        return cls(tuple(names), values, by_name, tuple(words[: place.start]), tuple(words[place.stop :]))


def _place(words: Sequence[str]) -> range | None:
    """The indexes of the outermost SELECT's list, without DISTINCT."""
    start, depth = None, 0
    for at, word in enumerate(words):
        depth += (word in _OPENING) - (word in _CLOSING)
        if depth:
            continue
        if word == "select" and start is None:
            start = at + 1 + (words[at + 1 : at + 2] in (("distinct",), ("all",)))
        elif word == "from" and start is not None and words[at - 1] != "distinct":
            return range(start, at)
    return None if start is None else range(start, len(words))


def _items(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    item, depth = list[str](), 0
    for word in words:
        depth += (word in _OPENING) - (word in _CLOSING)
        if word == "," and not depth:
            yield tuple(item)
            item = []
        else:
            item.append(word)
    yield tuple(item)


def _name(node: exp.Expr) -> str:
    """The name of a column in lower case. Empty for a computed column without an alias, which Spark names."""
    if isinstance(node, exp.Star):
        return "*"
    if isinstance(node, exp.Column) and isinstance(node.this, exp.Star):
        return f"{node.table.lower()}.*"
    return (
        node.alias.lower() if isinstance(node, exp.Alias) else node.name.lower() if isinstance(node, exp.Column) else ""
    )


def _value(node: exp.Expr, words: tuple[str, ...]) -> tuple[str, ...]:
    if not isinstance(node, exp.Alias):
        return words
    return words[:-2] if words[-2] == "as" else words[:-1]
