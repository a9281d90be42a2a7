"""Impact: how fast all slices downstream of one bad hour are named, over a company's tasks with three years of slices.

The world is seed 000's (80,000 tasks, 120,000 dependencies a unit of scale), each with slices since three years ago.
One hour of yesterday is bad, in each of so many hourly tasks; what is reached of each is compared with a slow reference
that asks each slice what it reads, by dates alone. Then backfills are planned, each from one to three random bad slices
of the last days: one slice in eight holds nothing, and half of the others tell what they read.

    closure_ms         from a bad hour to all slices downstream of it, in milliseconds, the fastest of three: the median
    closure_ms_p90     the same, one in ten takes longer
    closure_ms_most    the same, for the hour that takes longest
    closure_ms_first   what took longest when it was asked for the first time
    numbering_ms       the entities and dependencies as arrays: once, before the first closure, in milliseconds
    slices, entities   how much that hour reaches, of how many entities
    stored_slices      how many slices the world has by then
    compared           hours that were compared with the reference, and how much the largest of them reaches
    compared_most
    differing          hours of which the reference reaches other slices; 0 is right
    backfills          so many were planned; in all of them
    rebuilds           so many slices are rebuilt
    needless_rebuilds  of these those that depend on no bad slice by the reference; 0 is right
    missed_rebuilds    slices that depend on one and are not rebuilt; 0 is right
    taint_10k_s        10,000 slices found by what their runs read and tainted durably in SQLite, in seconds
    taint_10k_cpu_s    the same without waiting for the processor
    tainted            so many were marked by one call of `tidemark taint`, beside the 100 that it names
"""

from __future__ import annotations

import random
import statistics
import time
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from benchmarks.impact.rebuilds import measure_rebuilds
from benchmarks.impact.tainted_slices import measure_taint
from benchmarks.impact.touched import Touched
from benchmarks.readiness.reference import key_of
from benchmarks.readiness.world import build
from tidemark.dependency_model.impact import downstream_closure
from tidemark.dependency_model.impact.numbered_edges import NumberedEdges
from tidemark.dependency_model.slice import Slice
from tidemark.system.garbage_collection import freeze_live_objects

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.impact import Closure

T = TypeVar("T")

START: Final = "2021-07-01"
UNTIL: Final = datetime(2024, 7, 1, tzinfo=UTC)
BAD_HOUR: Final = datetime(2024, 6, 30, 12, tzinfo=UTC)


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--scale", type=float, default=1.0, help="1 is 80,000 entities")
    parser.add_argument("--hours", type=int, default=100, help="so many bad hours")
    parser.add_argument("--backfills", type=int, default=100, help="so many backfills from random bad slices")


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    world = build(arguments.scale, START)
    freeze_live_objects()
    hourly = [name for name, period in world.periods.items() if period == "hour"]
    tasks = random.Random(0).sample(hourly, k=min(arguments.hours, len(hourly)))
    numbering, _ = _timed(partial(world.graph.kept, NumberedEdges.of))
    runs = [[_timed(partial(_closure, world.graph, task)) for _ in range(3)] for task in tasks]
    timed = [min(of_task, key=_taken) for of_task in runs]
    milliseconds = sorted(map(_taken, timed))
    slowest, most = max(timed, key=_taken)
    touched = Touched(world, UNTIL)
    return {
        "closure_ms": round(statistics.median(milliseconds), 2),
        "closure_ms_p90": round(milliseconds[len(milliseconds) * 9 // 10], 2),
        "closure_ms_most": round(slowest, 2),
        "closure_ms_first": round(max(_taken(of_task[0]) for of_task in runs), 2),
        "numbering_ms": round(numbering, 1),
        "slices": len(most),
        "entities": len(most.reached),
        "world_entities": len(world.graph),
        "stored_slices": _stored_slices(world.graph),
        "compared": len(timed),
        "compared_most": max(len(closure) for _, closure in timed),
        "differing": sum(
            {(slice_.entity, slice_.key) for slice_ in closure} != touched.by([(task, BAD_HOUR)])
            for task, (_, closure) in zip(tasks, timed, strict=True)
        ),
        **measure_rebuilds(world, arguments.backfills, UNTIL),
        **measure_taint(days=100, users=max(1, round(100 * arguments.scale))),
    }


def _timed(action: Callable[[], T]) -> tuple[float, T]:
    begun = time.perf_counter()
    result = action()
    return (time.perf_counter() - begun) * 1000, result


def _taken(timed: tuple[float, Closure]) -> float:
    return timed[0]


def _closure(graph: DependencyGraph, task: str) -> Closure:
    return downstream_closure(graph, [Slice(task, key_of("hour", BAD_HOUR))], UNTIL)


def _stored_slices(graph: DependencyGraph) -> int:
    nodes = map(graph.node, graph)
    return sum(node.grid.at(int(UNTIL.timestamp())) - node.existing.start for node in nodes if node.grid)
