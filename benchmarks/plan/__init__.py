"""A change of code: how fast `tidemark plan` answers, and whether it ever calls a change none.

The world is a project of so many entities in layers of a hundred, each with a query over two of the layer above, and a
state store in which each was computed for so many days; then one query in the middle is changed, in one column:

    plan_s            from reading the declarations to the plan with its cost, in seconds: median of five
    plan_cpu_s        the same without waiting for the processor
    first_s           the first one, which analyses the changed query
    entities, slices  the world
    outdated          slices of the changed entity, and
    touched           slices downstream that use the changed column
    needless_rebuilds slices named beyond those of a slow reference, and edits of nothing that are called a change
    edits, missed     random edits, judged by computing both queries with DuckDB: changes that are called none
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.plan.judged_edits import judged_edits
from benchmarks.plan.world import CHANGED, PlanWorld

if TYPE_CHECKING:
    import argparse

_TIMES = 5


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--scale", type=float, default=1.0, help="1 is 2,000 entities")
    parser.add_argument("--days", type=int, default=60, help="slices of each entity")
    parser.add_argument("--edits", type=int, default=200, help="random edits")


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    judged = list(judged_edits(arguments.edits, seed=0))
    with tempfile.TemporaryDirectory() as folder:
        world = PlanWorld.make(Path(folder), max(4, round(2_000 * arguments.scale)), arguments.days)
        world.change()
        timed = [_timed(world) for _ in range(1 + _TIMES)]
    told = timed[-1][2]
    (planned,) = told.entities
    named = {slice_.entity for slice_ in told.slices}
    needless = sum(len(slices) for name, slices in planned.touched.items() if name not in world.touched())
    return {
        "plan_s": round(statistics.median(wall for wall, _, _ in timed[1:]), 3),
        "plan_cpu_s": round(statistics.median(cpu for _, cpu, _ in timed[1:]), 3),
        "first_s": round(timed[0][0], 3),
        "entities": world.entities,
        "slices": world.entities * arguments.days,
        "outdated": len(planned.outdated),
        "touched": sum(map(len, planned.touched.values())),
        "untold": len(({CHANGED} | world.touched()) - named),
        "needless_rebuilds": needless + sum(edit.is_needless for edit in judged),
        "edits": len(judged),
        "missed": sum(edit.is_missed for edit in judged),
    }


def _timed(world: PlanWorld) -> tuple[float, float, Any]:
    wall, cpu = time.perf_counter(), time.process_time()
    told = world.plan()
    return time.perf_counter() - wall, time.process_time() - cpu, told
