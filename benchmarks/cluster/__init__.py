"""Clustering against Delta's own: `OPTIMIZE ZORDER BY`, with and without noise, and liquid clustering.

All start from the same unclustered files, in one process, interleaved and warm, and make files of the same size; the
seed is new in each run. Ratios are theirs / ours: above 1, ours is better.

    build_cpu_ratio, build_wall_ratio    ZORDER BY, median of the rounds
    makespan_ratio                       ZORDER BY: the build on 32 slots, by its tasks' times, median of the rounds
    makespan_ratio_without_noise         the same against ZORDER BY without its handling of hot spots
    files_ratio_zorder, files_ratio_liquid  files that 200 points and ranges a key and 200 boxes read, together
    files_worst_zorder, files_worst_liquid  the kind of filter (point on the first key, ...) where ours is worst
    detail                               the figures behind: seconds, longest task / mean, files by kind of filter
"""

from __future__ import annotations

import random
import statistics
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable

from benchmarks.cluster.builds import KEYS, WAYS, Build, built
from benchmarks.cluster.datasets import DATASETS, Dataset
from benchmarks.cluster.filters import Filter, random_filters, read_by
from benchmarks.cluster.session import started
from benchmarks.cluster.tasks import Tasks, tasks_of
from benchmarks.merge.table import copied
from tidemark.quoting.spark import path_table

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from pyspark.sql import SparkSession

ROWS = 3_000_000
FILES = 64
# 200 points and ranges a key, and 200 boxes.
FILTERS = 1000


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--scale", type=float, default=1.0, help="times 3 million rows a data set")
    parser.add_argument("--rounds", type=int, default=5, help="measured builds a way, after one to warm up")
    parser.add_argument("--files", type=int, default=FILES, help="files to make of a table")
    parser.add_argument("--dataset", action="append", choices=list(DATASETS), help="only these; may be repeated")


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    seed = random.SystemRandom().randrange(10**6)
    chosen = [DATASETS[name] for name in arguments.dataset or DATASETS]
    with tempfile.TemporaryDirectory() as folder:
        spark = started(Path(folder))
        count = int(ROWS * arguments.scale)
        figures = {
            filter_.name: _measured(
                spark, Path(folder), filter_, count, arguments.files, arguments.rounds, seed + 100 * number
            )
            for number, filter_ in enumerate(chosen)
        }
        spark.stop()
    return {"rows": count, "files": arguments.files, "rounds": arguments.rounds, "seed": seed, "datasets": figures}


def _measured(
    spark: SparkSession, folder: Path, dataset: Dataset, rows: int, files: int, rounds: int, seed: int
) -> dict[str, Any]:
    plain, for_liquid = _written(spark, folder, dataset, rows, seed)
    target = -(-sum(_sizes(plain)) // files)
    builds: dict[str, list[Build]] = defaultdict(list)
    tables: dict[str, Path] = {}
    tasks: dict[str, list[Tasks]] = defaultdict(list)
    for number in range(rounds + 1):
        ways = list(WAYS)
        for way in ways[number % len(ways) :] + ways[: number % len(ways)]:
            group = f"{dataset.name}.{way}.{number}"
            tables[way] = copied(for_liquid if way == "liquid" else plain, folder / group)
            builds[way].append(built(spark, way, tables[way], target, group))
            tasks[way].append(tasks_of(spark, group))
    warm = {way: measurements[1:] or measurements for way, measurements in builds.items()}
    measured = {way: measurements[1:] or measurements for way, measurements in tasks.items()}
    filters = random_filters(_values(plain), FILTERS, seed)
    return _figure(warm, measured, tables, filters)


def _written(spark: SparkSession, folder: Path, dataset: Dataset, rows: int, seed: int) -> tuple[Path, Path]:
    plain, for_liquid = folder / f"{dataset.name}.plain", folder / f"{dataset.name}.liquid"
    frame = dataset.rows(spark, rows, seed)
    frame.write.format("delta").save(str(plain))
    columns = ", ".join(f"{name} {kind}" for name, kind in frame.dtypes)
    spark.sql(f"CREATE TABLE {path_table(for_liquid)} ({columns}) USING delta CLUSTER BY ({', '.join(KEYS)})")
    frame.write.format("delta").mode("append").save(str(for_liquid))
    return plain, for_liquid


def _sizes(path: Path) -> list[int]:
    return [
        int(size) for size in pa.table(DeltaTable(str(path)).get_add_actions(flatten=True))["size_bytes"].to_pylist()
    ]


def _values(path: Path) -> dict[str, pa.Array]:
    """Each key's distinct values, sorted, without NULL."""
    rows = DeltaTable(str(path)).to_pyarrow_table(columns=list(KEYS))
    return {name: pc.unique(rows[name].drop_null()).sort() for name in KEYS}


def _figure(
    builds: Mapping[str, Sequence[Build]],
    tasks: Mapping[str, Sequence[Tasks]],
    tables: Mapping[str, Path],
    filters: Sequence[Filter],
) -> dict[str, Any]:
    cpu = {way: statistics.median(build.cpu for build in measurements) for way, measurements in builds.items()}
    wall = {way: statistics.median(build.wall for build in measurements) for way, measurements in builds.items()}
    spans = {way: statistics.median(task.makespan for task in measurements) for way, measurements in tasks.items()}
    read = {way: read_by(path, filters) for way, path in tables.items()}
    files = {way: _by_kind(filters, [count for count, _ in reads]) for way, reads in read.items()}
    size = {way: sum(size for _, size in reads) for way, reads in read.items()}
    return {
        "build_cpu_ratio": _ratio(cpu["zorder"], cpu["ours"]),
        "build_wall_ratio": _ratio(wall["zorder"], wall["ours"]),
        "build_cpu_ratio_liquid": _ratio(cpu["liquid"], cpu["ours"]),
        "build_wall_ratio_liquid": _ratio(wall["liquid"], wall["ours"]),
        "makespan_ratio": _ratio(spans["zorder"], spans["ours"]),
        "makespan_ratio_without_noise": _ratio(spans["zorder_without_noise"], spans["ours"]),
        "files_ratio_zorder": _ratio(sum(files["zorder"].values()), sum(files["ours"].values())),
        "files_ratio_liquid": _ratio(sum(files["liquid"].values()), sum(files["ours"].values())),
        "bytes_ratio_zorder": _ratio(size["zorder"], size["ours"]),
        "bytes_ratio_liquid": _ratio(size["liquid"], size["ours"]),
        "files_worst_zorder": min(_ratio(files["zorder"][kind], own) for kind, own in files["ours"].items()),
        "files_worst_liquid": min(_ratio(files["liquid"][kind], own) for kind, own in files["ours"].items()),
        "detail": {
            way: {
                "cpu_seconds": round(cpu[way], 2),
                "wall_seconds": round(wall[way], 2),
                "makespan_seconds": round(spans[way], 2),
                "longest_to_mean": round(statistics.median(task.longest_to_mean for task in tasks[way]), 2),
                "files": len(_sizes(tables[way])),
                "read": {kind: round(count, 2) for kind, count in files[way].items()},
            }
            for way in builds
        },
    }


def _by_kind(filters: Sequence[Filter], counts: Sequence[int]) -> dict[str, float]:
    """Files that a filter reads on average, by kind of filter."""
    by_kind: dict[str, list[int]] = defaultdict(list)
    for filter_, count in zip(filters, counts, strict=True):
        by_kind[filter_.kind].append(count)
    return {kind: statistics.fmean(own) for kind, own in by_kind.items()}


def _ratio(theirs: float, ours: float) -> float:
    return round(theirs / ours, 2)
