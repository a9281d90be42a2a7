"""Readiness: from a durable fact to the durable decision that a slice may start.

A company of 80,000 tasks with 120,000 dependencies of mixed periods and offsets goes through one day of 150,000
instances (times the scale), from an hour before a midnight that ends a day, a week and a month. Work is done for real,
through the store; time in which nothing happens is skipped. Around midnight and in two minutes of each hour every fact
is taken as it comes, and measured; in between, those of 15 s are reported together.

    latency_ms_*      a fact's arrival to the commit that holds it and all that it released, at the day's own rate
    due_ms_*          a slice's earliest time to the commit that released it
    burst_ms_*        the same as latency for 2,500 facts in one second
    accuracy          decisions that a reference, which knows dates only, confirms; the others are told by kind
    work_ratio        how often the index counted an input, over the inputs of the day's slices that were done: 1 is
                      each of them once (where an older slice may stand in for an input, each of those counts)
    rebuild_seconds   a new process builds what it has to know from the store: `slices` of those that are known
                      (`slices_known`); rss_mb: its memory then, with the graph
    dagster_tick_ms   one idle tick of Dagster's automation over 1,000 eager assets, for comparison
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchmarks.readiness.dagster_tick import tick_ms
from benchmarks.readiness.day import Day
from benchmarks.readiness.judged import judge
from benchmarks.readiness.reference import inputs_of, instances, key_of
from benchmarks.readiness.world import SINCE, UNTIL, ReadinessWorld, build
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Event, Quality, RunState, SliceStatus
from tidemark.state_store.database import Database
from tidemark.state_store.store import StateStore
from tidemark.state_store.transition import Transition

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

_BURST: Final = 2_500
_SLOTS: Final = 4_000
_HISTORY_AT_ONCE: Final = 50_000
_DONE: Final = SliceStatus(RunState.COMPLETED, frozenset({"completed"}), Quality.PASSED)


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--db", choices=["sqlite", "postgresql"], default="sqlite")
    parser.add_argument("--scale", type=float, default=1.0, help="times 80,000 tasks and 120,000 dependencies")
    parser.add_argument("--minutes", type=int, default=1_440, help="how much of the day, from an hour before midnight")


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    world = build(arguments.scale)
    with _database(arguments.db) as url:
        store = StateStore(Database(url))
        _write_history(world, store)
        until = min(UNTIL, SINCE + timedelta(minutes=arguments.minutes))
        day = Day(world.graph, store, SINCE, until, int(_SLOTS * arguments.scale))
        burst: list[float] = []
        measured = day.run(burst, _BURST)
        work = day.center.memory.index.work
        command = [sys.executable, "-m", "benchmarks.readiness.rebuild", url, str(arguments.scale), day.now.isoformat()]
        rebuilt = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        judged = judge(world, store.database, SINCE, until)
        known = len(store.read.everything()[1])
        store.close()
    return {
        "db": arguments.db,
        "scale": arguments.scale,
        "tasks": len(world.graph),
        "edges": world.edges,
        "instances": sum(1 for _ in instances(world, SINCE, UNTIL)),
        "facts": measured.facts,
        "accuracy": judged.accuracy,
        **{name: getattr(judged, name) for name in ("early", "late", "missed", "doubled")},
        **_quantiles("latency_ms", measured.latency_ms),
        **_quantiles("due_ms", measured.due_ms),
        **_quantiles("burst_ms", burst),
        "work_ratio": round(work / max(judged.edges, 1), 3),
        **rebuilt,
        "slices_known": known,
        "busy_seconds": round(measured.busy_seconds, 1),
        "dagster_tick_ms": round(tick_ms()),
    }


def _write_history(world: ReadinessWorld, store: StateStore) -> None:
    """What the day's slices need of the days before is there."""
    slices = list(instances(world, SINCE, UNTIL))
    own = {(name, key_of(period, begin)) for name, period, begin in slices}
    needed = {key for name, period, begin in slices for key, _ in inputs_of(world, name, period, begin)} - own
    known = sorted(needed)
    for start in range(0, len(known), _HISTORY_AT_ONCE):
        chunk = enumerate(known[start : start + _HISTORY_AT_ONCE], start=start + 1)
        store.write.append(
            [
                Transition(seq, f"history-{seq}", Slice(*key), Event.QUALITY_PASSED, _DONE, "history", "", SINCE, SINCE)
                for seq, key in chunk
            ],
            after=start,
        )


@contextmanager
def _database(kind: str) -> Iterator[str]:
    """An empty database that waits for its disk at each commit, as in production."""
    if kind == "sqlite":
        with tempfile.TemporaryDirectory() as folder:
            yield f"sqlite:///{Path(folder) / 'state.db'}"
        return
    from tests.components.postgres import postgres  # noqa: PLC0415 - only where it is asked for

    with postgres(fsync=True) as server:
        yield server.url


def _quantiles(name: str, values: list[float]) -> dict[str, float]:
    ordered = sorted(values) or [0.0]
    at = {"p50": 0.5, "p90": 0.9}
    percentiles = {f"{name}_{label}": round(ordered[int(len(ordered) * share)], 1) for label, share in at.items()}
    return {**percentiles, f"{name}_max": round(ordered[-1], 1)}
