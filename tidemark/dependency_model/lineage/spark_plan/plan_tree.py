"""A plan as Spark writes it to JSON: every tree is a list of nodes, each before its children.

Source: `TreeNode.toJSON` of Spark's Catalyst.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tidemark.errors import ParseError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

MARK: Final = "\u00a7"
"""Separates table and column in the names of an input's columns; other names do not contain it."""


@dataclass(frozen=True, slots=True)
class PlanNode:
    """A node of a plan or of an expression: its class without packages, its fields, its children."""

    name: str
    fields: Mapping[str, Any]
    children: tuple[PlanNode, ...]

    @property
    def identity(self) -> str:
        """The identity of an attribute in its plan; empty for other nodes."""
        return str((self.fields.get("exprId") or {}).get("id", ""))

    def expressions(self, field: str) -> tuple[PlanNode, ...]:
        """The expressions of a field that has one, or a list of them."""
        value = self.fields.get(field)
        if not isinstance(value, list) or not value:
            return ()
        return tuple(map(tree, value)) if isinstance(value[0], list) else (tree(value),)


def read_plan(text: str) -> PlanNode:
    """The tree of a plan's JSON. Raises ParseError."""
    try:
        return tree(json.loads(text))
    except (ValueError, RecursionError) as error:
        raise ParseError("this is no plan of Spark", found=text[:60]) from error


def tree(flat: Sequence[Mapping[str, Any]]) -> PlanNode:
    """A tree from the list of its nodes. Raises ParseError."""
    rest = iter(flat)
    try:
        child = _next(rest)
    except (StopIteration, KeyError, TypeError) as error:
        raise ParseError("this is no plan of Spark", found=str(flat)[:60]) from error
    if next(rest, None) is not None:
        raise ParseError("this is no plan of Spark", found="nodes after its end")
    return child


def _next(rest: Iterator[Mapping[str, Any]]) -> PlanNode:
    fields = next(rest)
    children = tuple([_next(rest) for _ in range(fields["num-children"])])  # a generator would wrap StopIteration
    return PlanNode(str(fields["class"]).rpartition(".")[2], fields, children)


def walk(node: PlanNode) -> Iterator[PlanNode]:
    """The node and everything below it."""
    yield node
    for child in node.children:
        yield from walk(child)


def tables_named(text: str) -> frozenset[str]:
    """The inputs that a plan's JSON names anywhere."""
    before = text.split(MARK)[:-1]
    return frozenset(part.rpartition('"')[2] for part in before)
