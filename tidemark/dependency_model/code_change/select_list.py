"""The list of a SELECT: each column's name, its words and its tree, and the words around the list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from sqlglot import exp

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")


@dataclass(frozen=True)
class SelectList:
    """`names` in small letters and in order; `values` are the words of each column without its alias.

    `*` is a column of the name `*`, `t.*` one of `t.*`.
    """

    names: tuple[str, ...]
    values: Mapping[str, tuple[str, ...]]
    nodes: Mapping[str, exp.Expr]
    head: tuple[str, ...]
    tail: tuple[str, ...]

    @property
    def is_distinct(self) -> bool:
        """Whether the list decides on the rows, too."""
        return self.head[-1:] == ("distinct",)

    @classmethod
    def of(cls, query: exp.Expr, words: Sequence[str]) -> Self | None:
        """Of the words and the tree of a text; None where it is no single SELECT, or a column has no name."""
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
    """Where the list of the outermost SELECT stands, without DISTINCT."""
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
    """Empty for a computed column without an alias: its name is Spark's to make."""
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
