"""What Spark's own analysis says of a query: the tables and columns that its columns come of (seed capability D8)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tidemark.dependency_model.lineage.spark_plan.plan_tree import MARK
from tidemark.spark.internals import java_frame

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyspark.sql import DataFrame

Leaf = tuple[str, str]
"""Table and column."""


def column_sources(frame: DataFrame) -> dict[str, frozenset[Leaf]]:
    """By output column: the columns of empty inputs whose values go into it, not those that choose rows."""
    plan = _java(frame).queryExecution().analyzed()
    walk = _PlanWalk()
    walk.plan(plan)
    return {output.name(): walk.leaves(output.exprId().id()) for output in _items(plan.output())}


def tables_read(frame: DataFrame) -> tuple[str, ...]:
    """The empty inputs that a plan reads, in order of name."""
    plan = _java(frame).queryExecution().analyzed()
    names = {output.name() for node in _nodes(plan) for output in _items(node.output())}
    return tuple(sorted({name.partition(MARK)[0] for name in names if MARK in name}))


def _java(frame: DataFrame) -> Any:
    return java_frame(frame)


@dataclass
class _PlanWalk:
    """Sources of expressions by their id, from the leaves up."""

    sources: dict[int, frozenset[Leaf]] = field(default_factory=dict)

    def leaves(self, identity: int) -> frozenset[Leaf]:
        return self.sources.get(identity, frozenset())

    def plan(self, node: Any) -> None:
        """Note the sources of everything that a node puts out."""
        for child in _items(node.children()):
            self.plan(child)
        if node.nodeName() == "Union":
            self._union(node)
        for expression in _items(node.expressions()):
            if _name(expression) == "Alias":
                self.sources[expression.exprId().id()] = self._values(expression.child())
        if node.nodeName() == "Generate":
            used = self._values(node.generator())
            self.sources.update({column.exprId().id(): used for column in _items(node.generatorOutput())})
        for output in _items(node.output()):
            table, mark, column = output.name().partition(MARK)
            if mark:
                self.sources[output.exprId().id()] = frozenset({(table, column)})

    def _union(self, node: Any) -> None:
        branches = [_items(child.output()) for child in _items(node.children())]
        for at, output in enumerate(_items(node.output())):
            parts = [self.leaves(branch[at].exprId().id()) for branch in branches]
            self.sources[output.exprId().id()] = frozenset().union(*parts)

    def _values(self, expression: Any) -> frozenset[Leaf]:
        """The sources of a value: not those of an aggregate's FILTER, or of a window's keys."""
        match _name(expression):
            case "AttributeReference":
                return self.leaves(expression.exprId().id())
            case "AggregateExpression":
                return self._values(expression.aggregateFunction())
            case "WindowExpression":
                return self._values(expression.windowFunction())
            case "ScalarSubquery":
                self.plan(expression.plan())
                return self._of_all(self.leaves(column.exprId().id()) for column in _items(expression.plan().output()))
            case "Exists":
                return frozenset()
        return self._of_all(self._values(child) for child in _items(expression.children()))

    @staticmethod
    def _of_all(parts: Iterator[frozenset[Leaf]]) -> frozenset[Leaf]:
        return frozenset[Leaf]().union(*parts)


def _items(sequence: Any) -> Sequence[Any]:
    """A Scala sequence as a list."""
    return [sequence.apply(at) for at in range(sequence.length())]


def _name(expression: Any) -> str:
    return str(expression.getClass().getSimpleName())


def _nodes(plan: Any) -> Iterator[Any]:
    yield plan
    for child in (*_items(plan.children()), *_items(plan.subqueries())):
        yield from _nodes(child)
