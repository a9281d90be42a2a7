"""Unknown functions of time: the slices that they choose do not depend on data, but are unknown.

A part that depends on data (an aggregate, a window, a column) makes a condition both true and false, and all remaining
slices are read. A function of partition columns alone always leaves out the same slices: to wait for all of several
slices would be wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.dependency_model.lineage.bound_expression import Bound, Column, Opaque, value_parts, walk

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tidemark.dependency_model.lineage.entity_outline import TimeColumns
    from tidemark.dependency_model.lineage.relation import Relation


def unknown_function(table: str, relations: Iterable[Relation], times: TimeColumns) -> Opaque | None:
    """An unknown function of time alone in a condition on a table's slices."""
    for relation in relations:
        for constraint in relation.constraints:
            if any(target.table == table for target in constraint.targets):
                opaque = _of_time_alone(constraint.condition, table, times)
                if opaque is not None:
                    return opaque
    return None


def _of_time_alone(condition: Bound, table: str, times: TimeColumns) -> Opaque | None:
    if not any(times.tells(part, table) for part in walk(condition)):
        return None
    unknown = (part for part in value_parts(condition) if isinstance(part, Opaque) and not part.of_data)
    return next((call for call in unknown if all(_is_known_without_data(part, times) for part in walk(call))), None)


def _is_known_without_data(part: Bound, times: TimeColumns) -> bool:
    if isinstance(part, Column):
        return times.tells(part)
    return not (isinstance(part, Opaque) and part.of_data)
