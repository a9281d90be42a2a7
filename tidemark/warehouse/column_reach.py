"""The dependencies that a change of one column follows, by column lineage (part of seed capability D8).

If the columns of a query are not known, all of them count as changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.suggestion import did_you_mean, quote_value
from tidemark.errors import UnknownEntityError

if TYPE_CHECKING:
    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.warehouse.column_graph import ColumnGraph

_ALL: Final = "*"
Dependencies = frozenset[tuple[str, str]]
"""Pairs of upstream and downstream entity."""


def dependencies_reached(graph: DependencyGraph, columns: ColumnGraph, entity: str, column: str) -> Dependencies:
    """The dependencies through which a change of `entity.column` reaches other slices. Raises UnknownEntityError."""
    known = columns.columns(entity)
    if known and column not in known and _ALL not in known:
        raise UnknownEntityError(
            f"{entity} has no column with this name", found=quote_value(column), hint=did_you_mean(column, known)
        )
    return columns_reached(graph, columns, entity, frozenset({column}))


def columns_reached(graph: DependencyGraph, columns: ColumnGraph, entity: str, own: frozenset[str]) -> Dependencies:
    """The dependencies through which a change of an entity's columns reaches other slices; `*` means all columns."""
    changed: dict[str, frozenset[str]] = {entity: own}
    reached: set[tuple[str, str]] = set()
    pending = [entity]
    while pending:
        up = pending.pop()
        for edge in graph.downstream_edges(up):
            down = edge.down.name
            of_down = _changed_columns(columns, up, changed[up], down)
            if not of_down:
                continue
            reached.add((up, down))
            if not of_down <= changed.get(down, frozenset()):
                changed[down] = changed.get(down, frozenset()) | of_down
                pending.append(down)
    return frozenset(reached)


def _changed_columns(columns: ColumnGraph, up: str, changed: frozenset[str], down: str) -> frozenset[str]:
    """The columns of a downstream entity that depend on the changed columns of its upstream."""
    if columns.same.get(down) == up or down == up:
        return changed
    of_down = columns.entities.get(down)
    if of_down is None or not of_down.is_known or _ALL in changed:
        return frozenset({_ALL})
    names = {f"{up}.{column}" for column in changed} | {f"{up}.{_ALL}"}
    if not names.isdisjoint(of_down.indirect):
        return frozenset({_ALL})
    return frozenset(name for name, sources in of_down.direct.items() if not names.isdisjoint(sources))
