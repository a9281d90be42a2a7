"""One measurement: a world of its own, feeds told at a rate, and what became of the slices that waited for them."""

from __future__ import annotations

import tempfile
import time
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from datetime import date, timedelta
from pathlib import Path
from statistics import quantiles
from typing import TYPE_CHECKING, Any, Final

import dagster as dg
from sqlalchemy import create_engine, make_url

from benchmarks.launch.location import START
from benchmarks.launch.world import Host, LaunchWorld, cpu_seconds, resident_megabytes
from tidemark.center.launchers.run_tags import PARTITION, RANGE_END, RANGE_START
from tidemark.center.service import ACROSS
from tidemark.dagster_internals.long_lived_connections import keep_connections
from tidemark.warm_runs.errors import WorkersDownError
from tidemark.warm_runs.host_socket import ask
from tidemark.warm_runs.worker_options import host_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

    Slices = list[tuple[str, str]]

_PAIRS: Final = 60
_READY_SECONDS: Final = 240.0
_LAST_SECONDS: Final = 120.0
_BURST_SECONDS: Final = 1.0
_WARM_UPS: Final = 4
"""So many slices a worker before it is measured: a process's first runs import and compile."""


@dataclass(frozen=True)
class Row:
    """What is measured: `rate` feeds a minute for `minutes`, and `burst` more in one second in the middle."""

    host: str = "center"
    launcher: str = "warm"
    db: str = "postgresql"
    rate: float = 104.0
    minutes: float = 5.0
    burst: int = 60
    workers: int = 2
    spark: bool = False
    across: int = ACROSS


def measure_row(row: Row) -> dict[str, Any]:
    """The figures of one measurement."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        url, state = stack.enter_context(_databases()) if row.db == "postgresql" else ("", "")
        world = LaunchWorld(folder, url, state, row.workers, row.launcher, spark=row.spark, across=row.across)
        world.write(_PAIRS)
        # First of all: two processes that make a new storage at once spoil it.
        instance = stack.enter_context(dg.DagsterInstance.from_config(str(world.home)))
        keep_connections(instance)
        host = stack.enter_context(world.center() if row.host == "center" else world.sensor())
        about = {
            name: value for name, value in asdict(row).items() if name in ("host", "launcher", "db", "spark", "across")
        }
        return {**about, **_measured(instance, host, row)}


def _measured(instance: dg.DagsterInstance, host: Host, row: Row) -> dict[str, Any]:
    slices = _slices()
    _warm_up(instance, host, slices, row)
    cpu_before, begun = cpu_seconds(host.pids), time.time()
    told = _tell(instance, slices, row)
    seconds = time.time() - begun
    runs = _wait(instance, host, set(told), _LAST_SECONDS)
    cpu = cpu_seconds(host.pids) - cpu_before
    recorded = _recorded(instance, {feed for feed, _ in told})
    started = [1_000 * ((runs[slice_].start_time or 0.0) - recorded[slice_]) for slice_ in told if slice_ in runs]
    finished = [1_000 * ((runs[slice_].end_time or 0.0) - recorded[slice_]) for slice_ in told if slice_ in runs]
    failed = sum(run.dagster_run.status is not dg.DagsterRunStatus.SUCCESS for run in runs.values())
    return {
        "runs": len(told),
        "dagster_runs": len({runs[slice_].dagster_run.run_id for slice_ in told if slice_ in runs}),
        "rate_per_min": round(60 * len(told) / seconds, 1),
        "started_ms_p50": _percentile(started, 50),
        "started_ms_p90": _percentile(started, 90),
        "started_ms_max": round(max(started, default=0.0)),
        "finished_ms_p90": _percentile(finished, 90),
        "cpu_s_per_run": round(cpu / len(told), 3),
        "failed": failed + len(told) - len(started),
        "rss_mb": round(resident_megabytes(host.pids)),
    }


def _warm_up(instance: dg.DagsterInstance, host: Host, slices: Iterator[tuple[str, str]], row: Row) -> None:
    """Every worker is ready and has run something."""
    deadline = time.monotonic() + _READY_SECONDS
    while row.launcher == "warm" and _ready_workers(instance) < row.workers and time.monotonic() < deadline:
        host.child.require()
        time.sleep(0.5)
    for _ in range(_WARM_UPS):
        warmed = [next(slices) for _ in range(row.workers)]
        for slice_ in warmed:
            _arrive(instance, *slice_)
        _wait(instance, host, set(warmed), _READY_SECONDS)


def _ready_workers(instance: dg.DagsterInstance) -> int:
    try:
        return int(ask(host_folder(instance), {"do": "status"})["ready"])
    except WorkersDownError:
        return 0


def _slices() -> Iterator[tuple[str, str]]:
    """A feed's number and a day: all feeds of a day, then those of the next."""
    day = date.fromisoformat(START)
    while True:
        yield from ((str(number), day.isoformat()) for number in range(_PAIRS))
        day += timedelta(days=1)


def _tell(instance: dg.DagsterInstance, slices: Iterator[tuple[str, str]], row: Row) -> Slices:
    """Materialize feeds at the rate; returns them in order."""
    count = int(row.rate * row.minutes)
    begun, told, step = time.monotonic(), list[tuple[str, str]](), 60 / row.rate
    moments = [number * step for number in range(count)]
    middle = moments[count // 2]
    moments += [middle + _BURST_SECONDS * number / max(row.burst, 1) for number in range(row.burst)]
    for moment in sorted(moments):
        time.sleep(max(0.0, begun + moment - time.monotonic()))
        told.append(next(slices))
        _arrive(instance, *told[-1])
    return told


def _arrive(instance: dg.DagsterInstance, number: str, day: str) -> None:
    instance.report_runless_asset_event(dg.AssetMaterialization(f"feed_{number}", partition=day))


def _wait(
    instance: dg.DagsterInstance, host: Host, wanted: set[tuple[str, str]], seconds: float
) -> dict[tuple[str, str], dg.RunRecord]:
    """The runs of these slices, once they have ended, or the time is over. Raises ChildEndedError."""
    deadline = time.monotonic() + seconds
    while True:
        records = {
            slice_: record for record in instance.get_run_records() if record.end_time for slice_ in slices_of(record)
        }
        if wanted <= records.keys() or time.monotonic() > deadline:
            return {slice_: record for slice_, record in records.items() if slice_ in wanted}
        host.child.require()
        time.sleep(0.5)


def slices_of(record: dg.RunRecord) -> Iterator[tuple[str, str]]:
    """Number and day of each slice that a run holds."""
    tags = record.dagster_run.tags
    first, last = (tags.get(name) or tags.get(PARTITION, START) for name in (RANGE_START, RANGE_END))
    days, end = date.fromisoformat(first), date.fromisoformat(last)
    while days <= end:
        for key in record.dagster_run.asset_selection or ():
            yield key.to_user_string().removeprefix("small_"), days.isoformat()
        days += timedelta(days=1)


def _recorded(instance: dg.DagsterInstance, numbers: set[str]) -> dict[tuple[str, str], float]:
    """When each feed's slice was recorded, epoch seconds."""
    recorded = {}
    for number in numbers:
        result = instance.fetch_materializations(dg.AssetKey([f"feed_{number}"]), limit=1_000)
        for record in result.records:
            recorded[number, record.partition_key or ""] = record.timestamp
    return recorded


def _percentile(values: list[float], percent: int) -> int:
    return round(quantiles(values, n=100, method="inclusive")[percent - 1]) if len(values) > 1 else 0


@contextmanager
def _databases() -> Iterator[tuple[str, str]]:
    """Dagster's, and the state store's: both have a table of one name."""
    from tests.components.postgres import postgres  # noqa: PLC0415 - only where it is asked for

    with postgres(fsync=True) as server:
        engine = create_engine(server.url, isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.exec_driver_sql("CREATE DATABASE tidemark")
        engine.dispose()
        yield server.url, make_url(server.url).set(database="tidemark").render_as_string(hide_password=False)
