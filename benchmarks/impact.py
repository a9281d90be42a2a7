"""Impact: how fast all slices downstream of one bad hour are named, over a company's tasks with three years of slices.

The world is seed 000's (80,000 tasks, 120,000 dependencies a unit of scale), each with slices since three years ago.
One hour of yesterday is bad, in each of so many hourly tasks; what is reached of each is compared with the others' way:
slices that a slow reference, which goes slice by slice, reaches as well.

    closure_ms        from a bad hour to all slices downstream of it, in milliseconds: the median
    closure_ms_p90    the same, one in ten takes longer
    closure_ms_most   the same, for the hour that takes longest
    slices, entities  how much that hour reaches, of how many entities
    stored_slices     how many slices the world has by then
    differing         hours of which a slow reference reaches other slices; 0 is right
    taint_10k_s       10,000 slices found by what their runs read and tainted durably in SQLite, in seconds; so many are
    taint_10k_cpu_s   the same without waiting for the processor
    tainted           marked in one call of `tidemark taint`, beside the 100 that it names
"""

from __future__ import annotations

import random
import statistics
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from benchmarks.readiness.world import build
from benchmarks.tainted_slices import measure_taint
from tidemark.dependency_model.impact import downstream_closure
from tidemark.dependency_model.slice import Slice
from tidemark.system.garbage_collection import freeze_live_objects

if TYPE_CHECKING:
    import argparse

    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.impact import Closure

START: Final = "2021-07-01"
UNTIL: Final = datetime(2024, 7, 1, tzinfo=UTC)
BAD_HOUR: Final = "2024-06-30T12"
_COMPARED: Final = 3_000


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--scale", type=float, default=1.0, help="1 is 80,000 entities")
    parser.add_argument("--hours", type=int, default=100, help="so many bad hours")


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    world = build(arguments.scale, START)
    freeze_live_objects()
    hourly = [name for name, period in world.periods.items() if period == "hour"]
    causes = [Slice(name, BAD_HOUR) for name in random.Random(0).sample(hourly, k=min(arguments.hours, len(hourly)))]
    timed = [_timed(world.graph, cause) for cause in causes]
    milliseconds = sorted(taken for taken, _ in timed)
    slowest, most = max(timed, key=lambda closure: closure[0])
    compared = [(cause, closure) for cause, (_, closure) in zip(causes, timed, strict=True) if len(closure) < _COMPARED]
    return {
        "closure_ms": round(statistics.median(milliseconds), 2),
        "closure_ms_p90": round(milliseconds[len(milliseconds) * 9 // 10], 2),
        "closure_ms_most": round(slowest, 2),
        "slices": len(most),
        "entities": len(most.reached),
        "world_entities": len(world.graph),
        "stored_slices": _stored_slices(world.graph),
        "compared": len(compared),
        "differing": sum(set(closure) != _slowly(world.graph, cause) for cause, closure in compared),
        **measure_taint(days=100, users=max(1, round(100 * arguments.scale))),
    }


def _timed(graph: DependencyGraph, cause: Slice) -> tuple[float, Closure]:
    begun = time.perf_counter()
    closure = downstream_closure(graph, [cause], UNTIL)
    return (time.perf_counter() - begun) * 1000, closure


def _slowly(graph: DependencyGraph, cause: Slice) -> set[Slice]:
    """Slice by slice, one step at a time."""
    reached, new = {cause}, [cause]
    while new:
        users = {user for slice_ in new for user in graph.downstream(slice_, UNTIL)}
        new = [user for user in users - reached if graph.window(user).start <= UNTIL]
        reached.update(new)
    return reached - {cause}


def _stored_slices(graph: DependencyGraph) -> int:
    nodes = map(graph.node, graph)
    return sum(node.grid.at(int(UNTIL.timestamp())) - node.existing.start for node in nodes if node.grid)
