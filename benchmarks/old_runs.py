"""Old runs: Dagster's storage with many ended runs, before and after Tidemark's upkeep, on SQLite and PostgreSQL.

One run of an asset with a check is executed, and its rows are copied under other run ids and partitions. So each run
has the newest materialization of a partition, which stays: the worst case.

Figures:

    runs              ended runs in the storage
    kb_a_run          the storage's bytes for each run, with the file of its events in SQLite
    kb_a_run_kept     the bytes that stay for each removed run: its materialization and the result of its check
    remove_ms         the time to remove one run, in steps of the center
    remove_cpu_ms     the processor time of that, without a server's
    step_ms_p50, _max one such step
    page_ms_before    Dagster's first page of runs, 25 of them, median of five
    page_ms_after     the same when all are removed
    poll_ms_before    an idle look of the center at the event log, median of five
    poll_ms_after     the same when all are removed
    partitions_lost   partitions that Dagster shows as materialized before and not after
"""

from __future__ import annotations

import os
import shutil
import statistics
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator  # noqa: TC003 - Dagster reads the annotation
from contextlib import closing, contextmanager, nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import dagster as dg
import yaml
from dagster._core.storage.event_log import SqliteEventLogStorage
from sqlalchemy import MetaData, create_engine, func, insert, select, text

from tests.components.postgres import postgres
from tests.project import write_project
from tidemark.center.center_tick import RUNS_AT_ONCE, CenterTick
from tidemark.center.detectors.event_log import CURSOR, TIME_CURSOR
from tidemark.center.old_runs import OldRuns
from tidemark.dagster_internals.long_lived_connections import keep_connections
from tidemark.state_store.positions import note_position
from tidemark.system.settings import Settings
from tidemark.warehouse.warehouse import load_warehouse

if TYPE_CHECKING:
    import argparse

    from sqlalchemy import Engine, Table

_DECLARATIONS: Final = {
    "project.yaml": "start: 2026-03-01\n",
    "dwd/sales.yaml": "period: day\n",
    "dwd/sales.sql": "SELECT 1 AS n\n",
}
_PARTITION: Final = "2026-03-01"
_ROWS_AT_ONCE: Final = 1_000
_AGO: Final = timedelta(days=60)
_LINKS: Final = 1_000
_SALES: Final = dg.AssetKey("sales")
_TABLES: Final = ("runs", "run_tags", "event_logs", "asset_check_executions", "asset_event_tags")


@dg.asset(
    partitions_def=dg.StaticPartitionsDefinition([_PARTITION]),
    check_specs=[dg.AssetCheckSpec("rows", asset="sales")],
)
def sales() -> Iterator[dg.MaterializeResult[None]]:
    """The asset whose run is copied."""
    yield dg.MaterializeResult(
        metadata={"delta_version": 1, "dagster/row_count": 10},
        check_results=[dg.AssetCheckResult(passed=True, check_name="rows")],
    )


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--runs", type=int, default=2_000)
    parser.add_argument("--stores", nargs="+", choices=("sqlite", "postgresql"), default=("sqlite", "postgresql"))


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    return {store: _measure(store, arguments.runs) for store in arguments.stores}


def _measure(store: str, runs: int) -> dict[str, Any]:
    server = postgres() if store == "postgresql" else nullcontext()
    with tempfile.TemporaryDirectory() as folder, server as opened:
        root = Path(folder)
        storage = {"storage": {"postgres": {"postgres_url": opened.url}}} if opened else {}
        home = write_project(root, _DECLARATIONS, "time_zone: UTC\nruns_days: 30\n") / "dagster_home"
        home.mkdir()
        (home / "dagster.yaml").write_text(yaml.safe_dump({"telemetry": {"enabled": False}, **storage}))
        with dg.DagsterInstance.from_config(str(home)) as instance:
            run = _run(instance)
            keep_connections(instance)
            return _of_storage(_Storage(instance, run.run_id, opened.url if opened else ""), root, runs)


def _run(instance: dg.DagsterInstance) -> dg.ExecuteInProcessResult:
    return dg.materialize([sales], instance=instance, partition_key=_PARTITION)


def _of_storage(storage: _Storage, root: Path, runs: int) -> dict[str, Any]:
    instance = storage.instance
    empty = storage.size()
    storage.copy_run(runs)
    full = storage.size()
    _run(instance)  # the newest events are of a run that stays
    partitions = instance.get_materialized_partitions(_SALES)
    settings = Settings.load({"TIDEMARK_ROOT": str(root)})
    warehouse = load_warehouse(settings)
    tick = CenterTick(warehouse, "benchmark")
    with closing(tick.store):
        last = instance.event_log_storage.get_maximum_record_id() or 0
        note_position(tick.store, CURSOR, str(last))
        note_position(tick.store, TIME_CURSOR, str(time.time()))
        tick.tick(instance)
        before = _median_ms(lambda: instance.get_run_records(limit=25)), _median_ms(lambda: tick.tick(instance))
        old, steps, removed = OldRuns(warehouse, tick.store), list[float](), 0
        now, cpu = datetime.now(UTC), time.process_time()
        while removed < runs:
            begun = time.perf_counter()
            removed += old.poll(instance, now, RUNS_AT_ONCE)
            steps.append((time.perf_counter() - begun) * 1e3)
        cpu = time.process_time() - cpu
        after = _median_ms(lambda: instance.get_run_records(limit=25)), _median_ms(lambda: tick.tick(instance))
    storage.compact()
    return {
        "runs": removed,
        "kb_a_run": round((full - empty) / runs / 1e3, 2),
        "kb_a_run_kept": round((storage.size() - empty) / runs / 1e3, 2),
        "remove_ms": round(sum(steps) / max(removed, 1), 3),
        "remove_cpu_ms": round(cpu * 1e3 / max(removed, 1), 3),
        "step_ms_p50": round(statistics.median(steps), 1),
        "step_ms_max": round(max(steps), 1),
        **{f"{name}_ms_{when}": ms for when, figures in (("before", before), ("after", after))
           for name, ms in zip(("page", "poll"), figures, strict=True)},
        "partitions_lost": len(partitions - instance.get_materialized_partitions(_SALES)),
    }  # fmt: skip


def _median_ms(do: Callable[[], object]) -> float:
    times = []
    for _ in range(5):
        begun = time.perf_counter()
        do()
        times.append((time.perf_counter() - begun) * 1e3)
    return round(statistics.median(times), 2)


class _Storage:
    """Dagster's storage, with one run to copy."""

    def __init__(self, instance: dg.DagsterInstance, run_id: str, url: str) -> None:
        self.instance, self._run_id, self._url = instance, run_id, url
        self._history = Path(instance.root_directory) / "history"

    def copy_run(self, times: int) -> None:
        ids = [str(uuid.uuid4()) for _ in range(times)]
        for url in self._databases():
            with _opened(url) as engine:
                _copy_rows(engine, self._run_id, ids)
        if isinstance(self.instance.event_log_storage, SqliteEventLogStorage):
            self._copy_files(ids)

    def size(self) -> int:
        """The bytes on disk; a file with several names counts for each of them."""
        if not self._url:
            return sum(path.stat().st_size for path in self._history.rglob("*") if path.is_file())
        with _opened(self._url) as engine, engine.connect() as connection:
            return int(connection.execute(text("SELECT pg_database_size(current_database())")).scalar_one())

    def compact(self) -> None:
        """Give the room of removed rows back, so that the size is that of the rows that stay."""
        for url in self._databases():
            with _opened(url) as engine, engine.connect() as connection:
                connection.execute(text("VACUUM FULL" if self._url else "VACUUM"))
                if not self._url:
                    connection.execute(text("PRAGMA wal_checkpoint(TRUNCATE)"))

    def _databases(self) -> list[str]:
        if self._url:
            return [self._url]
        return [f"sqlite:///{self._history / name}" for name in ("runs.db", "runs/index.db")]

    def _copy_files(self, ids: list[str]) -> None:
        """The file of each run: hard links, because only their number and size count."""
        source = self._history / "runs" / f"{self._run_id}.db"
        with _opened(f"sqlite:///{source}") as engine, engine.connect() as connection:
            connection.execute(text("PRAGMA wal_checkpoint(TRUNCATE)"))
        for number, run_id in enumerate(ids):
            file = source.with_name(f"{run_id}.db")
            if number % _LINKS == 0:
                shutil.copyfile(source, file)
                first = file
            else:
                os.link(first, file)


@contextmanager
def _opened(url: str) -> Iterator[Engine]:
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    try:
        yield engine
    finally:
        engine.dispose()


def _copy_rows(engine: Engine, run_id: str, ids: list[str]) -> None:
    metadata = MetaData()
    metadata.reflect(engine)
    with engine.connect() as connection:
        tables = {name: metadata.tables[name] for name in _TABLES if name in metadata.tables}
        template = {name: list(connection.execute(select(table)).mappings()) for name, table in tables.items()}
        shift = {name: _shift(connection, tables.get(name)) for name in ("event_logs", "runs")}
    for start in range(0, len(ids), _ROWS_AT_ONCE):
        some = list(enumerate(ids))[start : start + _ROWS_AT_ONCE]
        with engine.connect() as connection, connection.begin():
            for name, table in tables.items():
                copies = [_copied(name, row, run_id, other, n, shift) for n, other in some for row in template[name]]
                if copies:
                    connection.execute(insert(table), copies)
    if engine.dialect.name == "postgresql":
        with engine.connect() as connection:
            connection.execute(text("SELECT setval('event_logs_id_seq', (SELECT max(id) FROM event_logs))"))


def _shift(connection: Any, table: Table | None) -> int:
    return 0 if table is None else int(connection.execute(select(func.max(table.c.id))).scalar_one())


def _copied(name: str, row: Any, run_id: str, other: str, number: int, shift: dict[str, int]) -> dict[str, Any]:
    """A row of another run. Numbers of events move on together; other tables number their own rows."""
    partition = f"p{number:07}"
    copy: dict[str, Any] = {
        column: value.replace(run_id, other).replace(_PARTITION, partition) if isinstance(value, str) else value
        for column, value in row.items()
    }
    copy.update(
        {at: when - _AGO + timedelta(milliseconds=number) for at, when in copy.items() if isinstance(when, datetime)}
    )
    for column in ("id", "event_id", "evaluation_event_storage_id", "materialization_event_storage_id"):
        of_events = column != "id" or name == "event_logs"
        if of_events and copy.get(column) is not None:
            copy[column] += (number + 1) * shift["event_logs"]
    if name != "event_logs":
        copy.pop("id", None)
    return copy
