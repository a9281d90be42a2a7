"""A lake of three tables whose slices and tags other engines read: by hours, captured, and by parts with odd names."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
from deltalake import write_deltalake

from tests.compute.small_warehouse import small_warehouse
from tidemark.compute.runtime import Runtime
from tidemark.dependency_model.entity.dependency import COMPLETED
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Event, RunState, SliceStatus
from tidemark.state_store.snapshot_registry import SnapshotRegistry, TaggedSnapshot
from tidemark.state_store.store import StateStore
from tidemark.state_store.transition import Facts, Transition

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

CAPTURED: Final = "kind: Snapshot\nperiod: day\nsource: {table: school.orders, instances: [a]}\nkey: [id]\n"
NOW: Final = datetime(2026, 3, 30, tzinfo=UTC)
MONDAY: Final = date(2026, 3, 23)
HOURS: Final = ("2026-03-23T07", "2026-03-23T08", "2026-03-24T07")
DAYS: Final = ("2026-03-28", "2026-03-29")
TAG: Final = "it's before"
LATE: Final = TaggedSnapshot("ods_orders", "day", "2026-03-30", 1, 5, NOW, generation=2, late_batch=3, restatement=1)


def small_lake(folder: Path) -> Runtime:
    """Every slice was written once more after the version that its state tells."""
    hours = ("period: hour\n", "SELECT 1 AS n WHERE 1 = 0\n")
    warehouse = small_warehouse(folder, {"clicks": hours, "ods_orders": (CAPTURED, "")})
    store = StateStore.of(warehouse.settings)
    for at, key in enumerate(HOURS):
        day, hour = key.split("T")
        place = {"dt": date.fromisoformat(day), "hour": hour}
        write_deltalake(str(warehouse.table_path("clicks")), odd_rows(at, place), partition_by=[*place], mode="append")
    complete(store, [Slice("clicks", key) for key in HOURS], versions=range(3))
    over = odd_rows(9, {"dt": MONDAY, "hour": "07"})
    where = "dt = '2026-03-23' AND hour = '07'"
    write_deltalake(str(warehouse.table_path("clicks")), over, mode="overwrite", predicate=where)
    registry = SnapshotRegistry.at(warehouse.settings.state_db)
    for version, key in enumerate(DAYS):
        write_deltalake(str(warehouse.table_path("ods_orders")), odd_rows(version, {}), mode="append")
        registry.tag([TaggedSnapshot("ods_orders", "day", key, version, 5, NOW)])
    registry.tag([TaggedSnapshot("ods_orders", "name", TAG, 0, 5, NOW), LATE])
    store.close()
    return Runtime(warehouse)


def complete(store: StateStore, slices: Sequence[Slice], versions: Sequence[int]) -> None:
    done = SliceStatus(RunState.COMPLETED, frozenset({COMPLETED}))
    told = [
        Transition(at, str(at), slice_, Event.COMPLETED, done, "test", "", NOW, NOW, Facts(snapshot_id=str(version)))
        for at, (slice_, version) in enumerate(zip(slices, versions, strict=True), 1)
    ]
    store.write.append(told, after=0, cursors={})


def odd_rows(seed: int, place: dict[str, Any]) -> pa.Table:
    """Nulls, ends of ranges, texts that quote, and times with and without fractions."""
    ids = [seed * 10 + at for at in range(5)]
    columns = {
        "id": pa.array(ids, pa.int64()),
        "name": pa.array(["", "it's", 'a "b" \\c', "\u00fcn\u00ef\u2603", None]),
        "amount": pa.array([Decimal("-0.01"), Decimal("123456789012345678.99"), None, Decimal(0), Decimal(1)]),
        "ratio": pa.array([0.1, -1e300, None, 5e-324, 2.0]),
        "is_paid": pa.array([True, False, None, True, False]),
        "day": pa.array([date(1969, 12, 31), date(2026, 3, 29), None, date(2100, 2, 28), MONDAY]),
        "at": pa.array([NOW + timedelta(microseconds=id_) for id_ in ids[:4]] + [None], pa.timestamp("us", "UTC")),
        "tags": pa.array([["a", None], [], ["it's"], ["b"], ["c"]], pa.list_(pa.string())),
    }
    return pa.table({**columns, **{name: [value] * 5 for name, value in place.items()}})
