"""Problems that need a person, worst first: one line for each cause."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final, Literal

from pydantic import BaseModel

from tidemark.dependency_model.readiness.earliest_time import ready_by
from tidemark.dependency_model.status import Event

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tidemark.api.warehouse_status import WarehouseStatus
    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.readiness.overview import EntityOverview
    from tidemark.dependency_model.slice import Slice

PressingKind = Literal["late", "failed", "invalid", "foreign", "absent", "tainted"]
_ORDER: Final[tuple[PressingKind, ...]] = ("late", "failed", "invalid", "foreign", "absent", "tainted")
_TOLD_BY: Final[dict[PressingKind, tuple[Event, ...]]] = {
    "failed": (Event.FAILED, Event.CANCELLED),
    "invalid": (Event.QUALITY_FAILED, Event.FLAGGED),
    "foreign": (Event.OVERWRITTEN,),
    "absent": (Event.DELETED, Event.LOST),
    "tainted": (Event.TAINTED,),
}
_ACTIONS: Final[dict[PressingKind, str]] = {
    "late": "tidemark explain {entity} {key}",
    "failed": "tidemark backfill {entity} {key} --approve",
    "invalid": "tidemark quality {entity} {key}",
    "foreign": "tidemark delta history {entity}",
    "absent": "tidemark backfill {entity} {key} --approve",
    "tainted": "tidemark backfill {entity} {key}",
}
_WHY_AT_MOST: Final = 5


class PressingModel(BaseModel):
    """`slice` is where to look first: the cause of late slices, the newest of others. `slices` is their number.

    `entities` have these slices. `since` is when the oldest promise was broken, or when the problem of `slice` was
    reported; null if not recorded. `promises` is the number of entities with a `ready_by` that are computed from it,
    itself included. `command` helps to fix it.
    """

    kind: PressingKind
    slice: str
    slices: int
    entities: list[str]
    owner: str
    why: list[str]
    since: datetime | None
    promises: int
    command: str


def pressing(stands: WarehouseStatus, entries: Sequence[EntityOverview]) -> list[PressingModel]:
    """Late slices by their cause, others by entity. Within a kind, the line with the most promises comes first."""
    promises = _promises(stands.warehouse.graph)
    told = [*_late(stands, entries, promises), *_flawed(stands, entries, promises)]
    return sorted(told, key=lambda line: (_ORDER.index(line.kind), -line.promises, line.slice))


def _late(
    stands: WarehouseStatus, entries: Sequence[EntityOverview], promises: Callable[[str], int]
) -> list[PressingModel]:
    causes: dict[Slice, list[Slice]] = {}
    for entry in entries:
        if entry.late and (cause := stands.cause_of(entry.late[0])):
            causes.setdefault(cause, []).extend(entry.late)
    return [
        PressingModel(
            kind="late",
            slice=str(cause),
            slices=len(late),
            entities=list(dict.fromkeys(slice_.entity for slice_ in late)),
            owner=stands.warehouse.graph.entity(cause.entity).owner,
            why=(stands.because(cause) or stands.not_started_yet(cause))[:_WHY_AT_MOST],
            since=min(filter(None, (_promised(stands, slice_) for slice_ in late)), default=None),
            promises=promises(cause.entity),
            command=_command("late", cause),
        )
        for cause, late in causes.items()
    ]


def _flawed(
    stands: WarehouseStatus, entries: Sequence[EntityOverview], promises: Callable[[str], int]
) -> list[PressingModel]:
    found: list[tuple[PressingKind, EntityOverview, list[Slice]]] = [
        (kind, entry, slices)
        for entry in entries
        for kind in _ORDER
        if kind != "late" and (slices := getattr(entry, kind))
    ]
    return [
        PressingModel(
            kind=kind,
            slice=str(slices[-1]),
            slices=len(slices),
            entities=[entry.entity],
            owner=entry.owner,
            why=stands.trouble_of(slices[-1])[:_WHY_AT_MOST],
            since=_since(stands, kind, slices[-1]),
            promises=promises(entry.entity),
            command=_command(kind, slices[-1]),
        )
        for kind, entry, slices in found
    ]


def _since(stands: WarehouseStatus, kind: PressingKind, slice_: Slice) -> datetime | None:
    reports = stands.store.read.reports([slice_], _TOLD_BY[kind]).get(slice_, []) if stands.store else []
    return max((report.time for report in reports), default=None)


def _promised(stands: WarehouseStatus, slice_: Slice) -> datetime | None:
    graph = stands.warehouse.graph
    return ready_by(graph.entity(slice_.entity), graph.window(slice_))


def _command(kind: PressingKind, slice_: Slice) -> str:
    parts = "".join(f" --part {name}={value}" for name, value in slice_.sub) if kind == "late" else ""
    return _ACTIONS[kind].format(entity=slice_.entity, key=slice_.key) + parts


def _promises(graph: DependencyGraph) -> Callable[[str], int]:
    """The number of promised entities that are computed from an entity, itself included; cached by entity."""
    known: dict[str, int] = {}

    def promises(name: str) -> int:
        if name not in known:
            seen, todo = {name}, [name]
            while todo:
                below = {edge.down.name for edge in graph.downstream_edges(todo.pop())} - seen
                seen |= below
                todo.extend(below)
            known[name] = sum(graph.entity(reached).is_promised for reached in seen)
        return known[name]

    return promises
