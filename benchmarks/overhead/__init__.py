"""What a slice costs more than its query: a day of the demo's SQL slices, bare, through the computer, and in a run.

All in one warm session, in turns: `bare` registers views of the same versions and partitions, runs the same SQL and
overwrites the partition of a copy of the table by `replaceWhere`; `computer` is Tidemark's (write, checks, sample);
`run` is the same as a Dagster run, as a warm worker executes it, with the manifest of the slice's launch. `cpu_ratio`
and `wall_ratio` are computer / bare, `run_*` run / bare, over the sums of the slices' medians; `phases` says where the
computer's wall time goes. Before that the demo computes the days up to the one that is measured.
`merge_cpu_ratio` and `merge_wall_ratio` are capture's merge / a plain MERGE on the key, of the same changes into copies
of a table as small as the demo's, in the same session.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import dagster as dg

from benchmarks.merge.batches import five_minutes
from benchmarks.merge.rounds import Rounds
from benchmarks.merge.table import TableShape
from benchmarks.merge.ways import COMPARED
from benchmarks.overhead.ways import BarePySpark, DagsterRuns, PhaseTimes
from benchmarks.timing import Timer
from tidemark.compute.runtime import Runtime
from tidemark.console.dagster_server.dagster_warnings import hide_notices
from tidemark.dependency_model.slice import Slice
from tidemark.system.settings import Settings
from tidemark.warehouse.warehouse import load_warehouse

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Mapping

    from pyspark.sql import SparkSession

    from tidemark.warehouse.warehouse import Warehouse

_DAY: Final = "2026-03-24"
_TABLE: Final = TableShape(9, 500, 2, 100)
"""Nine days as the recording's, and a batch of what a day changes in an hour."""


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, default=5, help="so many that count, after two that warm up")
    parser.add_argument("--warm", type=int, default=2)
    parser.add_argument("--entities", nargs="*", default=[], help="these alone")
    parser.add_argument("--until", default=_DAY, help="the day that is measured, the last one of the demo's")
    parser.add_argument("--computed", type=Path, help="the folder of a demo that is computed; it is written to")


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """The ratios, the seconds of each slice, and the phases."""
    hide_notices()
    with _computed(arguments.computed, arguments.until) as folder:
        settings = Settings.load({**os.environ, "TIDEMARK_DATA": str(folder / "data")})
        warehouse = load_warehouse(settings)
        slices = _slices(warehouse, arguments.entities, arguments.until)
        with dg.DagsterInstance.from_config(str(folder / "home")) as instance:
            runtime, phases = Runtime(warehouse), PhaseTimes()
            ways: dict[str, Callable[[Slice], object]] = {
                "bare": BarePySpark(runtime, Path(tempfile.mkdtemp(dir=folder))).compute,
                "computer": lambda slice_: _compute(runtime, slice_, phases),
                "run": DagsterRuns(warehouse, runtime, instance).execute,
            }
            timers = _time(ways, slices, arguments.warm, arguments.rounds)
        merges = merge_ratios(runtime.spark.newSession(), folder, arguments.warm, arguments.rounds)
    return {**_figures(timers, phases), **merges}


def merge_ratios(spark: SparkSession, folder: Path, warm: int, rounds: int) -> dict[str, float]:
    """Capture's merge against a plain one, turn by turn; both have to make the same rows."""
    with tempfile.TemporaryDirectory(dir=folder) as tables:
        figures = Rounds(spark, Path(tables), warm, rounds).turns(_TABLE, five_minutes, COMPARED)
    return {
        "merge_cpu_ratio": round(figures["ours_cpu_seconds"] / figures["naive_cpu_seconds"], 2),
        "merge_wall_ratio": round(figures["ours_seconds"] / figures["naive_seconds"], 2),
    }


def _compute(runtime: Runtime, slice_: Slice, phases: PhaseTimes) -> None:
    with phases.watched():
        runtime.computer().compute([slice_])


def _time(
    ways: Mapping[str, Callable[[Slice], object]], slices: list[Slice], warm: int, rounds: int
) -> dict[Slice, dict[str, Timer]]:
    timers = {slice_: {name: Timer(warm) for name in ways} for slice_ in slices}
    for _ in range(warm + rounds):
        for slice_, by_way in timers.items():
            for name, way in ways.items():
                by_way[name].run(lambda way=way, slice_=slice_: way(slice_))  # type: ignore[misc]
    return timers


def _figures(timers: Mapping[Slice, Mapping[str, Timer]], phases: PhaseTimes) -> dict[str, Any]:
    wall_by_slice = {
        str(slice_): {name: timer.figures("")["_seconds"] for name, timer in by_way.items()}
        for slice_, by_way in timers.items()
    }
    figures: dict[str, Any] = {"slices": len(timers)}
    for what in ("_cpu_seconds", "_seconds"):
        sums = {
            name: sum(by_way[name].figures("")[what] for by_way in timers.values())
            for name in ("bare", "computer", "run")
        }
        ratio = "cpu_ratio" if what == "_cpu_seconds" else "wall_ratio"
        figures |= {f"{name}{what}": round(seconds, 2) for name, seconds in sums.items()}
        figures |= {
            ratio: round(sums["computer"] / sums["bare"], 2),
            f"run_{ratio}": round(sums["run"] / sums["bare"], 2),
        }
    return {**figures, "phases": phases.shares(), "wall_by_slice": wall_by_slice}


def _slices(warehouse: Warehouse, chosen: list[str], day: str) -> list[Slice]:
    """Those of each daily entity that is computed by SQL, as they are launched: of one with parts each part's."""
    return [
        Slice(name, day, sub)
        for name in warehouse.graph.topological()
        for sub in warehouse.graph.node(name).subs
        if name in warehouse.queries
        and str(warehouse.entities[name].period) == "day"
        and not warehouse.is_made_here(name)
        and (not chosen or name in chosen)
    ]


@contextmanager
def _computed(given: Path | None, day: str) -> Iterator[Path]:
    """A folder with the data and the Dagster home of a demo."""
    if given is not None:
        yield given
        return
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        env = {**os.environ, "TIDEMARK_DATA": str(folder / "data"), "DAGSTER_HOME": str(folder / "home")}
        command = [sys.executable, "-m", "tidemark.console", "demo", "--until", day, "--json"]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
        assert json.loads(done.stdout)["differences"] == []
        yield folder
