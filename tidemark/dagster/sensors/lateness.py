"""Slices that are missing after their promised time: an observation of the asset for each change.

Dagster's freshness policies use the time of the last materialization of any partition, so a backfill of March makes
today's table fresh. This module uses business time.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

import dagster as dg

from tidemark.dependency_model.readiness.earliest_time import ready_by
from tidemark.dependency_model.status import RunState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import datetime

    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.slice import Slice
    from tidemark.dependency_model.status import SliceStatus
    from tidemark.warehouse.warehouse import Warehouse

    StatusOf = Callable[[Slice], SliceStatus]

_LOOKED_AT: Final = 31
"""The number of an entity's newest promised slices that are checked."""
_SHOWN: Final = 5


def promised_entities(warehouse: Warehouse) -> list[str]:
    """The entities with periods that declare `ready_by`."""
    return [name for name, entity in warehouse.entities.items() if entity.is_promised]


def late_slices(graph: DependencyGraph, name: str, status_of: StatusOf, now: datetime) -> list[Slice]:
    """The newest slices with a promised time before `now` (aware) that are not there, oldest first."""
    promised = islice(_promised(graph, name, now), _LOOKED_AT)
    late = [slice_ for slice_ in promised if status_of(slice_).run_state is not RunState.COMPLETED]
    return late[::-1]


def _promised(graph: DependencyGraph, name: str, now: datetime) -> Iterator[Slice]:
    """The slices of an entity whose promised time has passed, newest first."""
    node = graph.node(name)
    for sub in node.subs:
        grid = node.grid_of(sub)
        existing = node.existing_of(sub)
        if grid is None:
            continue
        newest = min(existing.stop - 1, grid.at(int(now.timestamp())))
        for ordinal in range(newest, existing.start - 1, -1):
            promised = ready_by(node.entity, grid.window(ordinal))
            if promised is not None and promised < now:
                yield node.slice(ordinal, sub)


def describe_late(late: Sequence[Slice]) -> str:
    """The late slices as text."""
    if not late:
        return "no slice is late"
    more = f" and {len(late) - _SHOWN} more" if len(late) > _SHOWN else ""
    return f"late: {', '.join(slice_.key for slice_ in late[-_SHOWN:])}{more}"


def late_observations(late: Mapping[str, Sequence[Slice]]) -> list[dg.AssetObservation]:
    """One observation for each entity, with all its late slices."""
    return [
        dg.AssetObservation(name, description=describe_late(slices), metadata={"late_slices": len(slices)})
        for name, slices in late.items()
    ]
