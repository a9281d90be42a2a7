"""The status of every entity in the JSON of `GET /v1/status` and of `tidemark status --json`.

Slices of an entity are keys without its name. Times are in UTC, ISO 8601.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel

from tidemark.api.pressing import PressingModel, pressing
from tidemark.dependency_model.backfill import BackfillPhase, SliceProgress
from tidemark.dependency_model.backfill.progress import ACTIVE, OPEN
from tidemark.state_store.backfills import Backfills

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tidemark.api.warehouse_status import WarehouseStatus
    from tidemark.dependency_model.readiness.overview import EntityOverview
    from tidemark.dependency_model.slice import Slice
    from tidemark.state_store.store import StateStore

_SHOWN: Final = 20
_SHOWN_PHASES: Final = (*ACTIVE, BackfillPhase.PLANNED)


class WaitsForModel(BaseModel):
    """The slice furthest upstream that the first waiting slice waits for, and why it is missing."""

    slice: str
    because: list[str]


class EntityStandsModel(BaseModel):
    """The slices of one entity, oldest first; `outdated` ones were computed by another version of the query.

    `anomalies` has the unusual figures by slice, `failures` the reasons of the newest failures and what to do.
    """

    entity: str
    layer: str
    owner: str
    completed: int
    newest: str | None
    late: list[str]
    failed: list[str]
    invalid: list[str]
    tainted: list[str]
    foreign: list[str]
    absent: list[str]
    incomplete: list[str]
    anomalous: list[str]
    under_way: list[str]
    waiting: list[str]
    anomalies: dict[str, str]
    failures: dict[str, list[str]]
    waits_for: WaitsForModel | None
    outdated: list[str]


class OpenBackfillModel(BaseModel):
    """A backfill that has not ended: the number of its open slices, and of slices that wait for a person."""

    number: int
    phase: str
    asked: str
    open: int
    asking: int


class LakeStatusModel(BaseModel):
    """Problems that need a person in `pressing`, worst first, and all entities.

    `center_trouble` is a warning if no center runs, or if the active one does not work.
    `unreadable` has, by entity, the reason why its table cannot be read; `not_in_iceberg` the reason why its newest
    slices are not in its Iceberg metadata.
    """

    now: datetime
    center_trouble: str
    pressing: list[PressingModel]
    entities: list[EntityStandsModel]
    backfills: list[OpenBackfillModel]
    unreadable: dict[str, str]
    not_in_iceberg: dict[str, str]


def lake_status(
    stands: WarehouseStatus, entries: Sequence[EntityOverview], *, is_past: bool = False
) -> LakeStatusModel:
    """The status of these entities. Raises StateStoreDownError."""
    names = {entry.entity for entry in entries}
    return LakeStatusModel(
        now=stands.now,
        center_trouble=stands.center_trouble,
        pressing=pressing(stands, entries),
        entities=[_entity(stands, entry) for entry in entries],
        backfills=_open_backfills(None if is_past else stands.store),
        unreadable={name: why for name, why in stands.unreadable_tables.items() if name in names},
        not_in_iceberg={name: why for name, why in stands.iceberg_troubles.items() if name in names},
    )


def _entity(stands: WarehouseStatus, entry: EntityOverview) -> EntityStandsModel:
    waits = stands.waits_for(entry)
    return EntityStandsModel(
        entity=entry.entity,
        layer=entry.layer,
        owner=entry.owner,
        completed=entry.completed,
        newest=short(entry.newest) if entry.newest else None,
        late=_keys(entry.late),
        failed=_keys(entry.failed),
        invalid=_keys(entry.invalid),
        tainted=_keys(entry.tainted),
        foreign=_keys(entry.foreign),
        absent=_keys(entry.absent),
        incomplete=_keys(entry.incomplete),
        anomalous=_keys(entry.anomalous),
        under_way=_keys(entry.under_way),
        waiting=_keys(entry.waiting),
        anomalies={short(slice_): stands.anomalies[slice_] for slice_ in entry.anomalous},
        failures={short(slice_): stands.failure(slice_) for slice_ in entry.failed[-_SHOWN:]},
        waits_for=WaitsForModel(slice=str(waits[0]), because=waits[1]) if waits else None,
        outdated=list(stands.outdated_slices.get(entry.entity, ())),
    )


def short(slice_: Slice) -> str:
    """The slice without its entity's name."""
    return str(slice_).partition("@")[2]


def _keys(slices: Iterable[Slice]) -> list[str]:
    return list(map(short, slices))


def _open_backfills(store: StateStore | None) -> list[OpenBackfillModel]:
    """The newest open backfills."""
    if store is None:
        return []
    stored = Backfills(store.database)
    rows = stored.rows(_SHOWN_PHASES)
    counts = stored.counts([row.number for row in rows])
    return [
        OpenBackfillModel(
            number=row.number,
            phase=row.phase.value,
            asked=row.request.asked,
            open=sum(counts[row.number].get(progress, 0) for progress in OPEN),
            asking=counts[row.number].get(SliceProgress.ASKING, 0),
        )
        for row in rows
    ]
