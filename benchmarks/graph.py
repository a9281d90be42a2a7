"""The dependency graph: how fast declarations are loaded, checked and asked.

Writes a folder of YAML files (80,000 entities and 120,000 dependencies a unit of scale: seed 000's size), then in a new
process reads, validates and joins them, and asks random slices for what they need and for what needs them.

    load_seconds    files on disk to a graph with every check done
    load_cpu_seconds  the same without waiting for the processor: what it takes on a machine of its own
    read_seconds    of which reading and validating each declaration
    graph_seconds   of which joining them and checking everything between them
    rss_mb          peak resident memory of that process
    expand_us_p99   from a slice to its exact upstream slices, one entity's whole declaration, in microseconds
    expand_again_us_p99  the same slices once more, as a service asks that has been up for a while
    inverse_us_p99  from a slice to all slices that need it
"""

from __future__ import annotations

import gc
import json
import random
import subprocess
import sys
import tempfile
import time
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidemark.dependency_model.graph import DependencyGraph
from tidemark.system.garbage_collection import pause_collection
from tidemark.warehouse.entity_files import load_entities

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Iterator

    from tidemark.dependency_model.slice import Slice

ENTITIES, EDGES = 80_000, 120_000
ASKED = 40_000
DOMAINS = 200

PERIODS = [("day", 66), ("hour", 18), ("week", 6), ("month", 6), ("5min", 2), ("10min", 1), ("quarter", 1)]
RANK = {"5min": 0, "10min": 1, "hour": 2, "day": 3, "week": 4, "month": 5, "quarter": 6}
SAME_PERIOD = [
    ("Set 0", 70),
    ("Set -1", 12),
    ("Set -1,0", 5),
    ("Range -6..0", 6),
    ("Set -7,-1,0", 4),
    ("last_available", 3),
]
FROM_FINER = [("all", 70), ("Range 0-6", 20), ("Set 0", 10)]
CALENDAR = {
    ("day", "day"): ["date -1 year", "first of month", "last of month -1", "all week -1"],
    ("day", "hour"): ["all day -1", "Set 5 of day -1", "date -7 day"],
    ("hour", "hour"): ["date -1 day", "all day -1"],
    ("hour", "day"): ["date -1 week", "first of month"],
    ("month", "day"): ["all month -12", "last of month"],
    ("week", "day"): ["all week -1", "first of month"],
}
"""By the periods of downstream and upstream."""
FROM_COARSER = [("Set 0", 50), ("Set -1", 40), ("last_available", 10)]


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--scale", type=float, default=1.0, help="times 80,000 entities and 120,000 dependencies")
    parser.add_argument(
        "--calendar", type=float, default=0.0, help="share of dependencies by the calendar: all day -1, date -1 year"
    )
    parser.add_argument(
        "--folder", type=Path, help="an empty folder for the files, which stay (default: a passing one)"
    )


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() if arguments.folder is None else nullcontext(arguments.folder) as folder:
        write(Path(folder), int(ENTITIES * arguments.scale), int(EDGES * arguments.scale), arguments.calendar)
        command = [sys.executable, "-m", "benchmarks.graph", str(folder)]
        run = subprocess.run(command, check=True, capture_output=True, text=True)
    return {"scale": arguments.scale, "calendar": arguments.calendar, **json.loads(run.stdout)}


def write(root: Path, entities: int, edges: int, calendar: float = 0.0) -> None:
    """Declarations of mixed kinds, the same for the same numbers; `calendar` is the share of offsets by it."""
    chance = random.Random(entities)
    (root / "project.yaml").write_text("time_zone: Europe/Paris\nstart: 2024-01-01\nowner: data@school.example\n")
    for domain in range(DOMAINS):
        (root / f"domain_{domain:03}").mkdir()
    periods = chance.choices([p for p, _ in PERIODS], [w for _, w in PERIODS], k=entities)
    needs: list[dict[str, None]] = [{} for _ in range(entities)]
    drawn = 0
    while drawn < edges:
        down = chance.randrange(1, entities)
        before = len(needs[down])
        needs[down][_need(chance, periods, down, calendar)] = None
        drawn += len(needs[down]) - before
    for number, (period, lines) in enumerate(zip(periods, needs, strict=True)):
        path = root / f"domain_{number % DOMAINS:03}" / f"task_{number:06}.yaml"
        path.write_text("".join(_declaration(chance, number, period, lines)))


def _need(chance: random.Random, periods: list[str], down: int, calendar: float) -> str:
    """A dependency on an earlier entity (one in twenty on itself, the period before)."""
    if chance.random() < 0.05:
        return f'  - {{entity: task_{down:06}, offset: "Set -1"}}\n'
    up = chance.randrange(max(0, down - 5_000), down)
    while _is_unlikely(periods[up], periods[down]) and chance.random() < 0.9:
        up = chance.randrange(max(0, down - 5_000), down)
    rank = RANK[periods[up]] - RANK[periods[down]]
    kinds = SAME_PERIOD if rank == 0 else FROM_FINER if rank < 0 else FROM_COARSER
    offset = chance.choices([o for o, _ in kinds], [w for _, w in kinds])[0]
    if periods[up] == "hour" and periods[down] == "day":
        offset = "Range 0-23"
    by_calendar = CALENDAR.get((periods[down], periods[up]))
    if calendar and by_calendar and chance.random() < calendar:
        offset = chance.choice(by_calendar)
    return f'  - {{entity: task_{up:06}, offset: "{offset}"}}\n'


def _is_unlikely(up: str, down: str) -> bool:
    """A month straight from five minutes: nine in ten go by the day between."""
    return RANK[up] < RANK["day"] < RANK[down] or (up, down) in (("5min", "day"), ("10min", "day"))


def _declaration(chance: random.Random, number: int, period: str, needs: Iterable[str]) -> Iterator[str]:
    yield f"description: What task {number} computes.\nkind: TimeSeries\nperiod: {period}\n"
    yield f"tags: {{product: p{number % 40}, team: t{number % 25}}}\n"
    if needs:
        yield "depends_on:\n"
        yield from needs
    if chance.random() < 0.3:
        yield f"quality:\n  - not_null: [id_{number % 7}]\n  - unique: [id_{number % 7}]\n"
    if chance.random() < 0.2:
        yield 'ready_by: "02:30"\n'


def load(root: Path) -> dict[str, Any]:
    """What happens in the new process."""
    begun, begun_cpu = time.perf_counter(), time.process_time()
    entities = load_entities(root)
    read = time.perf_counter()
    with pause_collection():
        graph = DependencyGraph.build(entities)
        problems = graph.problems()
    done, done_cpu = time.perf_counter(), time.process_time()
    assert not problems, problems[0]
    peak = _peak_mb()
    gc.collect()
    gc.freeze()
    asked = list(_some_slices(graph))
    expand, again = _microseconds(graph.requirements, asked), _microseconds(graph.requirements, asked)
    inverse = _microseconds(graph.downstream, asked)
    return {
        "entities": len(entities),
        "edges": sum(len(graph.upstream_edges(name)) for name in graph),
        "load_seconds": round(done - begun, 2),
        "load_cpu_seconds": round(done_cpu - begun_cpu, 2),
        "read_seconds": round(read - begun, 2),
        "graph_seconds": round(done - read, 2),
        "rss_mb": round(peak),
        "expand_us_p50": _at(expand, 0.5),
        "expand_us_p99": _at(expand, 0.99),
        "expand_again_us_p99": _at(again, 0.99),
        "inverse_us_p50": _at(inverse, 0.5),
        "inverse_us_p99": _at(inverse, 0.99),
    }


def _peak_mb() -> float:
    """Peak resident memory of this program; `ru_maxrss` would count the process that started it, too."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1024


def _some_slices(graph: DependencyGraph) -> Iterator[Slice]:
    """Random slices of random entities, over three years."""
    chance, names = random.Random(7), list(graph)
    start = datetime(2024, 6, 1, tzinfo=UTC)
    for _ in range(min(ASKED, 5 * len(names))):
        yield graph.slice_at(chance.choice(names), start + timedelta(minutes=chance.randrange(3 * 365 * 1440)))


def _microseconds(ask: Callable[[Slice], object], asked: list[Slice]) -> list[float]:
    edges = []
    for slice_ in asked:
        begun = time.perf_counter_ns()
        ask(slice_)
        edges.append((time.perf_counter_ns() - begun) / 1000)
    return sorted(edges)


def _at(ordered: list[float], share: float) -> float:
    return round(ordered[int(len(ordered) * share)], 1)


if __name__ == "__main__":
    print(json.dumps(load(Path(sys.argv[1]))))
