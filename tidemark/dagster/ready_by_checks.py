"""The asset check `ready_by`: it fails while a slice whose promised time has passed is not there (D3).

Dagster's freshness policies go by the time of the last materialization, whatever it was of: a backfill of March makes
today's table fresh. This check goes by business time. The readiness sensor reports it when it changes; a button in
Dagster's UI asks for it too. It blocks nothing.
"""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Final

import dagster as dg

from tidemark.dependency_model.readiness.earliest_time import ready_by
from tidemark.dependency_model.status import RunState, SliceStatus
from tidemark.state_store.store import StateStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.slice import Slice
    from tidemark.warehouse.warehouse import Warehouse

    StatusOf = Callable[[Slice], SliceStatus]

NAME: Final = "ready_by"
_LOOKED_AT: Final = 31
"""So many of an entity's newest promised slices are looked at."""
_SHOWN: Final = 5
_WAITS: Final = SliceStatus()


def promised_entities(warehouse: Warehouse) -> list[str]:
    """The entities with periods that declare `ready_by`."""
    return [name for name, entity in warehouse.entities.items() if entity.ready_by and not entity.is_static]


def late_slices(graph: DependencyGraph, name: str, status_of: StatusOf, now: datetime) -> list[Slice]:
    """The newest slices that are promised for a time before `now` (aware) and not there, oldest first."""
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
    """Which slices are late."""
    if not late:
        return "no slice is late"
    more = f" and {len(late) - _SHOWN} more" if len(late) > _SHOWN else ""
    return f"late: {', '.join(slice_.key for slice_ in late[-_SHOWN:])}{more}"


def evaluations(late: Mapping[str, Sequence[Slice]]) -> list[dg.AssetCheckEvaluation]:
    """The check of each of these entities."""
    return [
        dg.AssetCheckEvaluation(
            asset_key=dg.AssetKey([name]),
            check_name=NAME,
            passed=not slices,
            description=describe_late(slices),
            metadata=_metadata(slices),
        )
        for name, slices in late.items()
    ]


def ready_by_checks(warehouse: Warehouse) -> list[dg.AssetChecksDefinition]:
    """A check an entity that promises a time."""
    return [_check(warehouse, name) for name in promised_entities(warehouse)]


def _check(warehouse: Warehouse, name: str) -> dg.AssetChecksDefinition:
    entity = warehouse.entities[name]
    promise = f"Fails while a slice is not there at {entity.ready_by} {entity.time_zone} after its end."

    @dg.asset_check(asset=name, name=NAME, description=promise)
    def check() -> dg.AssetCheckResult:
        store = StateStore.of(warehouse.settings)
        known = {current.slice: current.status for current in store.read.completed(name)}
        store.close()
        late = late_slices(warehouse.graph, name, lambda slice_: known.get(slice_, _WAITS), datetime.now(UTC))
        return dg.AssetCheckResult(passed=not late, description=describe_late(late), metadata=_metadata(late))

    return check


def _metadata(late: Sequence[Slice]) -> dict[str, int]:
    return {"late_slices": len(late)}
