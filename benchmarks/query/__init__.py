"""What clustering gives readers, and what new data cost: 50 million rows, clustered by two keys or as they came.

Filters are selective: points on either key, and boxes of one per cent of each. Every engine has both tables open and
warm, asks them in turn, and gives the same answers. The seed is new in each run. Ratios are unclustered / clustered.

    files_ratio, bytes_ratio      read by 300 filters, all together, as the log's bounds decide
    bytes_ratio_worst             of the kind of filter where clustering gives least
    seconds_ratio_<engine>        by the clock, sum over the kinds of their medians: spark, duckdb, delta_rs
    build_seconds, build_cpu_seconds                the whole table clustered, once, the JVM warm
    incremental_wall_share, incremental_cpu_share   one per cent of new rows appended, then clustered alone: share of
                                                    the whole build, median of the rounds
    detail                        files, bytes and seconds of each kind: [unclustered, clustered]; files that a filter
                                  reads after the append: [before the new rows are clustered, after]
"""

from __future__ import annotations

import random
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.cluster.filters import read_by
from benchmarks.cluster.session import started
from benchmarks.merge.table import copied
from benchmarks.query.appended import appended
from benchmarks.query.engines import QueryTables, seconds_by_engine
from benchmarks.query.table import KEYS, KINDS, built, rows, selective_filters
from benchmarks.timing import Timer
from tidemark.delta.clustering.cluster_table import Clustering, cluster_table
from tidemark.delta.file_statistics import file_statistics

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from benchmarks.cluster.filters import Filter

ROWS = 50_000_000
FILES = 1_024
FILTERS = 300
NEW_SHARE = 0.01

Pairs = dict[str, tuple[float, float]]


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--scale", type=float, default=1.0, help="times 50 million rows")
    parser.add_argument("--files", type=int, default=FILES, help="files to make of the table")
    parser.add_argument("--rounds", type=int, default=5, help="measured rounds, after one to warm up")
    parser.add_argument("--folder", type=Path, help="where the unclustered table is kept from one run to the next")


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    seed, count = random.SystemRandom().randrange(10**6), int(ROWS * arguments.scale)
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        scratch, begun = Path(folder), time.perf_counter()
        spark = started(scratch)
        plain = built(spark, arguments.folder or scratch, count, seed)
        made = round(time.perf_counter() - begun, 1)
        measured = _measured(spark, scratch, plain, count, arguments.files, arguments.rounds, seed)
        spark.stop()
    return {"rows": count, "rounds": arguments.rounds, "seed": seed, "made_seconds": made, **measured}


def _measured(
    spark: SparkSession, scratch: Path, plain: Path, count: int, files: int, rounds: int, seed: int
) -> dict[str, Any]:
    size = file_statistics(plain).size_bytes
    clustering = Clustering.by(*KEYS, target_bytes=-(-size // files))
    new = rows(spark, max(1, int(count * NEW_SHARE)), seed + 10, 4).cache()
    build = Timer(1)
    tables = QueryTables(plain, scratch / "clustered")
    for source in (_small(scratch / "small", new), plain):
        copied(source, tables.clustered)
        build.run(lambda: cluster_table(spark, tables.clustered, clustering))
    seconds = seconds_by_engine(spark, tables, selective_filters(len(KINDS) * (rounds + 1), seed), warm=1)
    filters = selective_filters(FILTERS, seed + 1)
    added = appended(spark, tables.clustered, new, clustering, rounds, filters)
    read = _read(tables, filters)
    whole, part = build.figures("build"), added.timer.figures("incremental")
    return {
        "bytes": size,
        "files": file_statistics(tables.clustered).files.num_rows,
        "files_ratio": _ratio(read["files"].values()),
        "bytes_ratio": _ratio(read["bytes"].values()),
        "bytes_ratio_worst": min(_ratio([pair]) for pair in read["bytes"].values()),
        **{f"seconds_ratio_{engine}": _ratio(kinds.values()) for engine, kinds in seconds.items()},
        **whole,
        "incremental_wall_share": round(part["incremental_seconds"] / whole["build_seconds"], 4),
        "incremental_cpu_share": round(part["incremental_cpu_seconds"] / whole["build_cpu_seconds"], 4),
        "detail": {**read, "seconds": seconds, **part, "files_after_append": added.read},
    }


def _small(path: Path, some: DataFrame) -> Path:
    some.write.format("delta").save(str(path))
    return path


def _read(tables: QueryTables, filters: Sequence[Filter]) -> dict[str, Pairs]:
    """Files and bytes that a filter of each kind reads on average."""
    pairs: dict[str, Pairs] = {"files": {}, "bytes": {}}
    by_table = [read_by(path, filters) for path in (tables.unclustered, tables.clustered)]
    for kind in KINDS:
        own = [at for at, filter_ in enumerate(filters) if filter_.kind == kind]
        for number, name in enumerate(pairs):
            before, after = (sum(read[at][number] for at in own) / len(own) for read in by_table)
            pairs[name][kind] = (round(before, 1), round(after, 1))
    return pairs


def _ratio(pairs: Iterable[tuple[float, float]]) -> float:
    both = list(pairs)
    return round(sum(before for before, _ in both) / sum(after for _, after in both), 2)
