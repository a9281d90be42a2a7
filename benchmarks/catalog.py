"""The operational catalog: how fast it answers, and how fast tables are reconciled with it.

Writes 20 tables of one partition a commit (100,000 slices in all at scale 1) by hand as Delta's writers do, and a state
store in which runs have told each of them; then, in this process:

    slices              how many there are
    cold_seconds        the first pass over all tables, from no notes at all
    second_seconds      the next one, in which nothing has changed
    second_commits      how many commits that read: none
    changed_seconds     one in which one slice of each table was deleted by somebody else, told downstream and all
    changed_commits     how many commits that read: one a table
    absent              how many slices it found gone
    verify_seconds      one that looks for each file on disk, too
    answer_ms           the catalog of all entities, median of many questions
    page_ms             one entity with its newest 50 slices, the same
    counted_first_ms    one entity whose records were counted by minute, at both sides, for 50 days: the first question
    counted_page_ms     the same asked again, median of many questions
    counted_changed_ms  the same after a report of one minute, median of ten
    counted_vs_page     counted_page_ms / page_ms
    cold_slices_per_second
"""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from tests.lake_folder import lake_folder
from tidemark.catalog.catalog import SHOWN_SLICES, Catalog
from tidemark.catalog.slice_counts import note_counts
from tidemark.center.center import DependencyCenter
from tidemark.center.detectors.storage import StorageDetector
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Event, Quality, RunState, SliceStatus
from tidemark.state_store.record_counts import RecordCount, RecordCounts, Side
from tidemark.state_store.store import StateStore
from tidemark.state_store.transition import Facts, Transition
from tidemark.system.project_root import DECLARATIONS, PROJECT_FILE
from tidemark.system.settings import Settings
from tidemark.warehouse.warehouse import load_warehouse

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

    from tidemark.warehouse.warehouse import Warehouse

_Result = TypeVar("_Result")
_A_DAY: Final = 1_440
_SIDES: Final[tuple[Side, Side]] = ("source", "lake")
TABLES: Final = 20
_COUNTED: Final = "completeness: {time_column: at, sql: [{url: '${SHOP}', table: orders}]}\n"
SLICES: Final = 100_000
ASKED: Final = 30
FIRST_DAY: Final = date(2010, 1, 1)
NOW: Final = datetime(2026, 4, 1, 12, tzinfo=UTC)
_SCHEMA: Final = json.dumps(
    {
        "type": "struct",
        "fields": [
            {"name": name, "type": kind, "nullable": True, "metadata": {}}
            for name, kind in (("n", "long"), ("dt", "date"))
        ],
    }
)


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--scale", type=float, default=1.0, help="times 100,000 slices")


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        return _measure(Path(folder), max(1, round(SLICES * arguments.scale / TABLES)))


def _measure(folder: Path, days: int) -> dict[str, Any]:
    warehouse = _declare(folder)
    store = StateStore.of(warehouse.settings)
    for number in range(TABLES):
        _write_table(lake_folder(warehouse.table_path(f"dwd_{number:02}")), days)
    _tell(store, days)
    center = DependencyCenter(warehouse.graph, store, since=NOW - timedelta(days=2), clock=lambda: NOW)
    center.tick()
    detector = StorageDetector(warehouse, center, store, clock=lambda: NOW)
    cold, _ = _timed(detector.poll)
    second, unchanged = _timed(detector.poll)
    for number in range(TABLES):
        _delete(lake_folder(warehouse.table_path(f"dwd_{number:02}")), days)
    changed, report = _timed(detector.poll)
    verify, _ = _timed(lambda: detector.poll(verify=True))
    note_counts(store.database)
    catalog = Catalog(warehouse.graph, store.database)
    return {
        "slices": TABLES * days,
        "cold_seconds": round(cold, 3),
        "second_seconds": round(second, 4),
        "second_commits": unchanged.commits,
        "changed_seconds": round(changed, 4),
        "changed_commits": report.commits,
        "absent": report.absent,
        "verify_seconds": round(verify, 3),
        "answer_ms": _median_ms(catalog.entries),
        "page_ms": (page := _median_ms(lambda: catalog.page("dwd_00"))),
        **(counted := _of_counted(catalog, RecordCounts(store.database), days)),
        "counted_vs_page": round(counted["counted_page_ms"] / page, 2),
        "cold_slices_per_second": round(TABLES * days / cold),
    }


def _of_counted(catalog: Catalog, records: RecordCounts, days: int) -> dict[str, float]:
    """Pages of the last table, of whose newest slices each minute is counted."""
    shown, name = min(days, SHOWN_SLICES), f"dwd_{TABLES - 1:02}"
    end = int((FIRST_DAY - date(1970, 1, 1)).days + days) * _A_DAY
    minutes = range(end - shown * _A_DAY, end)
    records.report(
        [RecordCount(name, minute, side, "0", 100) for minute in minutes for side in _SIDES], {name: minutes.stop}
    )
    first, page = _timed(lambda: catalog.page(name))
    counted = [slice_.details.completeness for slice_ in page.slices]
    assert all(told is not None and told.is_complete for told in counted), "each minute of each slice was reported"
    again, changed = _median_ms(lambda: catalog.page(name)), []
    for minute in minutes[:: len(minutes) // 10][:10]:
        records.report([RecordCount(name, minute, "lake", "0", 99)], {})
        changed.append(_timed(lambda: catalog.page(name))[0])
    return {
        "counted_first_ms": round(first * 1_000, 2),
        "counted_page_ms": again,
        "counted_changed_ms": round(statistics.median(changed) * 1_000, 2),
    }


def _declare(folder: Path) -> Warehouse:
    (folder / PROJECT_FILE).write_text("time_zone: UTC\n")
    layer = folder / DECLARATIONS / "dwd"
    layer.mkdir(parents=True)
    for number in range(TABLES):
        counted = _COUNTED if number == TABLES - 1 else ""
        (layer / f"dwd_{number:02}.yaml").write_text(f"period: day\nstart: {FIRST_DAY}\nowner: a@b.example\n{counted}")
        (layer / f"dwd_{number:02}.sql").write_text("SELECT 1 AS n\n")
    return load_warehouse(Settings.at(folder / "data", root=folder), folder / DECLARATIONS)


def _days(days: int) -> Iterator[str]:
    return ((FIRST_DAY + timedelta(days=number)).isoformat() for number in range(days))


def _write_table(path: Path, days: int) -> None:
    log = path / "_delta_log"
    log.mkdir(parents=True)
    head: list[dict[str, Any]] = [
        {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}},
        {
            "metaData": {
                "id": path.name,
                "format": {"provider": "parquet", "options": {}},
                "schemaString": _SCHEMA,
                "partitionColumns": ["dt"],
                "configuration": {},
            }
        },
    ]
    for version, day in enumerate(_days(days)):
        file = _file(day, version)
        (path / file).parent.mkdir()
        (path / file).touch()
        add = {
            "path": file,
            "partitionValues": {"dt": day},
            "size": 1_000,
            "modificationTime": 0,
            "dataChange": True,
            "stats": json.dumps({"numRecords": 10}),
        }
        _commit(path, version, [*(head if not version else []), {"add": add}], "WRITE")


def _delete(path: Path, days: int) -> None:
    day = next(_days(days))
    remove = {"path": _file(day, 0), "partitionValues": {"dt": day}, "size": 1_000, "dataChange": True}
    _commit(path, days, [{"remove": remove}], "DELETE")


def _file(day: str, version: int) -> str:
    return f"dt={day}/part-00000-{version:08}.snappy.parquet"


def _commit(path: Path, version: int, actions: list[dict[str, Any]], operation: str) -> None:
    info = {"commitInfo": {"timestamp": 1_770_000_000_000 + version, "operation": operation}}
    text = "\n".join(json.dumps(action) for action in (info, *actions))
    (path / "_delta_log" / f"{version:020}.json").write_text(text)


def _tell(store: StateStore, days: int) -> None:
    status = SliceStatus(RunState.COMPLETED, frozenset({"completed"}), Quality.PASSED)
    for number in range(TABLES):
        last = store.read.last()
        transitions = [
            Transition(
                seq=last + 1 + version,
                event_id=f"{number}:{day}",
                slice=Slice(f"dwd_{number:02}", day),
                event=Event.COMPLETED,
                status=status,
                who="benchmark",
                why="",
                event_time=NOW,
                record_time=NOW,
                facts=Facts(run_id=f"run {number} {day}", snapshot_id=str(version), row_count=10),
            )
            for version, day in enumerate(_days(days))
        ]
        store.write.append(transitions, after=last)


def _timed(work: Callable[[], _Result]) -> tuple[float, _Result]:
    begun = time.perf_counter()
    result = work()
    return time.perf_counter() - begun, result


def _median_ms(question: Callable[[], object]) -> float:
    return round(statistics.median(_timed(question)[0] for _ in range(ASKED)) * 1_000, 2)
