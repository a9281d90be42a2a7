"""One Spark session for two runs at a time against one each.

The same slices, each a partition that Spark computes and writes to a Delta table of its own, two at a time: as threads
of one process that share its session (FAIR scheduler), and in two processes with a session each, as warm workers have
it. Interleaved, warm. `wall_ratio` and `cpu_ratio` are shared / each, medians of the rounds: above 1, a session each is
better; `rss_mb` is what the processes hold with their JVMs in the end.
"""

from __future__ import annotations

import multiprocessing
import os
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Final

from pyspark import SparkContext

from benchmarks.launch.location import FOLDER, START, write_declarations
from benchmarks.launch.world import cpu_seconds, resident_megabytes
from tidemark.compute.runtime import Runtime
from tidemark.dependency_model.slice import Slice
from tidemark.spark.session import spark_conf
from tidemark.system.settings import Settings
from tidemark.warehouse.warehouse import load_warehouse

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator
    from multiprocessing.connection import Connection

_AT_ONCE: Final = 2
_PAIRS: Final = 12
_WARM_UPS: Final = 3


@dataclass
class _Way:
    """Processes that compute their share of the slices."""

    pipes: list[Connection]
    pids: list[int]
    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def compute(self, day: date) -> None:
        """All entities' slices of a day, evenly among the processes."""
        before, begun = cpu_seconds(self.pids), time.monotonic()
        for number, pipe in enumerate(self.pipes):
            pipe.send([f"small_{pair}@{day}" for pair in range(number, _PAIRS, len(self.pipes))])
        for pipe in self.pipes:
            pipe.recv()
        self.wall.append((time.monotonic() - begun) / _PAIRS)
        self.cpu.append((cpu_seconds(self.pids) - before) / _PAIRS)

    def figures(self) -> dict[str, float]:
        return {
            "seconds_per_slice": round(median(self.wall[_WARM_UPS:]), 3),
            "cpu_s_per_slice": round(median(self.cpu[_WARM_UPS:]), 3),
            "rss_mb": round(resident_megabytes(self.pids)),
        }


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, default=7, help="so many that count, after three that warm up")


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """The figures of both ways, and their ratios."""
    with ExitStack() as stack:
        shared = stack.enter_context(_way([_AT_ONCE]))
        separate = stack.enter_context(_way([1] * _AT_ONCE))
        for number in range(_WARM_UPS + arguments.rounds):
            for way in (shared, separate):
                way.compute(date.fromisoformat(START) + timedelta(days=number))
        return {
            "shared": shared.figures(),
            "each": separate.figures(),
            "wall_ratio": _ratio(shared.wall, separate.wall),
            "cpu_ratio": _ratio(shared.cpu, separate.cpu),
        }


def _ratio(ones: list[float], others: list[float]) -> float:
    """The median of what a round took one way by what it took the other."""
    return round(median([own / other for own, other in zip(ones, others, strict=True)][_WARM_UPS:]), 2)


@contextmanager
def _way(threads: list[int]) -> Iterator[_Way]:
    """A process for each number of threads, on tables of its own."""
    spawn = multiprocessing.get_context("spawn")
    with ExitStack() as stack:
        way = _Way([], [])
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        write_declarations(folder, _PAIRS)
        for count in threads:
            ours, theirs = spawn.Pipe()
            process = spawn.Process(target=_serve, args=(theirs, folder, count), daemon=True)
            process.start()
            theirs.close()  # a process that dies is an end of file here, not silence
            stack.callback(process.join, 30)
            stack.callback(ours.send, None)
            way.pipes.append(ours)
            way.pids.append(process.pid or 0)
        yield way


def _serve(pipe: Connection, folder: Path, threads: int) -> None:
    """Compute the slices that the pipe names, so many at a time, until it says None."""
    settings = Settings.load({**os.environ, "TIDEMARK_DATA": str(folder)})
    scratch = Path(tempfile.mkdtemp(dir=folder))
    SparkContext(conf=spark_conf(settings, scratch).set("spark.scheduler.mode", "FAIR"))
    runtime = Runtime(load_warehouse(settings, folder / FOLDER))
    with ThreadPoolExecutor(threads) as pool:
        while (names := pipe.recv()) is not None:
            list(pool.map(lambda name: runtime.computer().compute([Slice.parse(name)]), names))
            pipe.send("done")
