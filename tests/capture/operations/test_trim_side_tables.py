"""What capture keeps beside the warehouse's tables stays as small as what is kept of the past."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
from deltalake import CommitProperties, write_deltalake

from tidemark.capture.commits.commit_state import CommitState, last_commit
from tidemark.capture.operations.trim_side_tables import trim, trim_if_due
from tidemark.delta.delta_rs_table import read_rows, table_metrics
from tidemark.system.settings import Settings

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def keep(warehouse: Path, name: str, days_ago: list[int | None], state: CommitState | None = None) -> None:
    times = [None if days is None else NOW - timedelta(days=days) for days in days_ago]
    rows = pa.table({"offset": range(len(times)), "event_time": pa.array(times, pa.timestamp("us", "UTC"))})
    said = CommitProperties(custom_metadata={"userMetadata": state.to_json()} if state else {})
    write_deltalake(str(warehouse / name), rows, mode="append", commit_properties=said)


def offsets(warehouse: Path, name: str) -> list[int]:
    return sorted(read_rows(warehouse / name)["offset"].to_pylist())


def test_what_is_older_than_is_kept_goes_once_a_day(tmp_path: Path) -> None:
    settings = Settings.at(tmp_path)
    assert trim_if_due(settings, NOW - timedelta(days=1)) == {}
    keep(settings.warehouse, "_dead_letters", [200, 91, 80, None])
    keep(settings.warehouse, "_unrouted", [200, 1], CommitState(batch=7, offsets={"cdc.a": 12}))
    assert trim_if_due(settings, NOW) == {"_dead_letters": 2, "_unrouted": 1}
    assert (offsets(settings.warehouse, "_dead_letters"), offsets(settings.warehouse, "_unrouted")) == ([2, 3], [1])
    kept = last_commit(settings.warehouse / "_unrouted")
    assert kept is not None
    assert (kept.state.batch, kept.state.offsets) == (7, {"cdc.a": 12})
    keep(settings.warehouse, "_dead_letters", [300])
    assert trim_if_due(settings, NOW + timedelta(hours=23)) == {}
    assert trim_if_due(settings, NOW + timedelta(hours=25)) == {"_dead_letters": 1}


def test_a_table_of_many_small_files_becomes_one_of_few(tmp_path: Path) -> None:
    for _ in range(52):
        keep(tmp_path, "_dead_letters", [1])
    assert trim(tmp_path, NOW - timedelta(days=90)) == {}
    assert table_metrics(tmp_path / "_dead_letters").files < 5
    assert len(offsets(tmp_path, "_dead_letters")) == 52


def test_where_there_are_no_tables_nothing_is_done(tmp_path: Path) -> None:
    assert trim(tmp_path, NOW) == {}
