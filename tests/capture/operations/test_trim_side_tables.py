"""What capture keeps beside the warehouse's tables stays as small as what is kept of the past."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import CommitProperties, write_deltalake

from tests.lake_folder import lake_folder
from tidemark.capture.commits.commit_state import CommitState, last_commit
from tidemark.capture.operations.trim_side_tables import trim, trim_if_due
from tidemark.capture.snapshots.late.late_change_table import late_path
from tidemark.capture.snapshots.late.late_retention import trim_late_changes
from tidemark.capture.snapshots.tagging import keep_newest
from tidemark.capture.source_table import SourceTable
from tidemark.delta.delta_rs_table import read_rows, table_metrics
from tidemark.dependency_model.time import Calendar
from tidemark.state_store.snapshot_registry import SnapshotRegistry, TaggedSnapshot
from tidemark.system.settings import Settings

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def keep(warehouse: Path, name: str, days_ago: list[int | None], state: CommitState | None = None) -> None:
    times = [None if days is None else NOW - timedelta(days=days) for days in days_ago]
    rows = pa.table({"offset": range(len(times)), "event_time": pa.array(times, pa.timestamp("us", "UTC"))})
    said = CommitProperties(custom_metadata={"userMetadata": state.to_json()} if state else {})
    write_deltalake(str(warehouse / name), rows, mode="append", commit_properties=said)


def offsets(warehouse: Path, name: str) -> list[int]:
    return sorted(read_rows(warehouse / name)["offset"].to_pylist())


def test_expired_rows_are_removed_once_a_day(tmp_path: Path) -> None:
    settings = Settings.at(tmp_path)
    registry = SnapshotRegistry.at(settings.state_db)
    assert trim_if_due(settings, NOW - timedelta(days=1), registry) == {}
    keep(lake_folder(settings.warehouse), "_dead_letters", [200, 91, 80, None])
    keep(lake_folder(settings.warehouse), "_unrouted", [200, 1], CommitState(batch=7, offsets={"cdc.a": 12}))
    assert trim_if_due(settings, NOW, registry) == {"_dead_letters": 2, "_unrouted": 1}
    assert (
        offsets(lake_folder(settings.warehouse), "_dead_letters"),
        offsets(lake_folder(settings.warehouse), "_unrouted"),
    ) == (
        [2, 3],
        [1],
    )
    kept = last_commit(settings.warehouse / "_unrouted")
    assert kept is not None
    assert (kept.state.batch, kept.state.offsets) == (7, {"cdc.a": 12})
    keep(lake_folder(settings.warehouse), "_dead_letters", [300])
    assert trim_if_due(settings, NOW + timedelta(hours=23), registry) == {}
    assert trim_if_due(settings, NOW + timedelta(hours=25), registry) == {"_dead_letters": 1}


@pytest.mark.slow
def test_many_small_files_become_few(tmp_path: Path) -> None:
    for _ in range(52):
        keep(tmp_path, "_dead_letters", [1])
    assert trim(tmp_path, NOW - timedelta(days=90)) == {}
    assert table_metrics(tmp_path / "_dead_letters").files < 5
    assert len(offsets(tmp_path, "_dead_letters")) == 52


def test_without_tables_nothing_is_done(tmp_path: Path) -> None:
    assert trim(tmp_path, NOW) == {}


SERIES = (("ods_orders", "day", "2026-03-01"),)
ORDERS = SourceTable(
    "ods_orders",
    "school.orders",
    ("a",),
    ("id",),
    None,
    (("ods_orders", "day", "2026-03-01"),),
    kept={"ods_orders": 30},
)
FIRST_DAY = datetime(2026, 3, 1, tzinfo=UTC)


def keep_late(warehouse: Path, day: int, rows: int) -> None:
    """Late changes of the day before, which came when that one was tagged."""
    tagged_ms = round((FIRST_DAY + timedelta(days=day)).timestamp() * 1000)
    table = pa.table({"_batch": [day] * rows, "_tagged_ms": [tagged_ms] * rows, "id": list(range(rows))})
    write_deltalake(str(late_path(warehouse, "ods_orders")), table, mode="append")


def tag_day(registry: SnapshotRegistry, day: int) -> None:
    key = f"{FIRST_DAY + timedelta(days=day):%Y-%m-%d}"
    registry.tag([TaggedSnapshot("ods_orders", "day", key, day, 1, FIRST_DAY)])
    keep_newest(registry, ORDERS)


@pytest.mark.slow
@pytest.mark.long
def test_late_changes_stay_as_long_as_a_tag_may_need_them_and_are_bounded_over_a_year(tmp_path: Path) -> None:
    registry = SnapshotRegistry.at(tmp_path / "state.db")
    calendar = Calendar("UTC")
    # Where nothing is tagged nobody knows what is needed.
    keep_late(tmp_path, 0, 5)
    assert trim_late_changes(registry, tmp_path, ORDERS, calendar) == 0
    most = 0
    for day in range(120):
        tag_day(registry, day)
        keep_late(tmp_path, day + 1, 5)
        if day % 10 == 9:
            trim_late_changes(registry, tmp_path, ORDERS, calendar)
            most = max(most, table_metrics(late_path(tmp_path, "ods_orders")).rows)
    left = read_rows(late_path(tmp_path, "ods_orders"), columns=["_batch"])["_batch"].to_pylist()
    # Thirty tags are kept, of the days 90 to 119: the oldest one ends with day 91.
    assert sorted(set(left)) == list(range(91, 121))
    assert most <= (30 + 10) * 5
    assert table_metrics(late_path(tmp_path, "ods_orders")).files < 60


def test_a_table_without_late_changes_has_none_to_remove(tmp_path: Path) -> None:
    registry = SnapshotRegistry.at(tmp_path / "state.db")
    tag_day(registry, 1)
    assert trim_late_changes(registry, tmp_path, ORDERS, Calendar("UTC")) == 0
