"""Merging batches of changes: a plain MERGE on the key against ours, in tables that differ in age, and by strategy.

A table of daily partitions of equal size, keys growing with time as order numbers do. Every way merges the same
changes into a copy of the same table, turn by turn in one warm process, and all have to make the same rows; seconds are
medians.

    speedup_small           plain MERGE / ours for a batch of five minutes, wall seconds, at --rows (10 million)
    speedup_large           the same at --large rows (200 million)
    growth_ratio            ours at --large / ours at --rows
    floor_seconds           ours, one changed row in a table of one small file
    worst_vs_best_strategy  the largest ours / fastest fixed strategy over the workloads: MERGE with literals of the
                            partitions, overwrite of the partitions and, where every key is new, a blind append; on a
                            plain table and (dv_) on one with deletion vectors
    *_rows_rewritten_per_change   rows that were written again only because they lay beside a changed one
"""

from __future__ import annotations

import tempfile
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchmarks.merge.batches import WORKLOADS, five_minutes, inserts_only, one_row
from benchmarks.merge.rounds import Rounds
from benchmarks.merge.table import TableShape
from benchmarks.merge.ways import BLIND, COMPARED, FIXED, OURS
from tidemark.spark.session import spark_session
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    import argparse

    from pyspark.sql import SparkSession

_PARTS: Final = ("small", "large", "floor", "workloads")
_CODEGEN: Final = {"spark.sql.codegen.wholeStage": "true", "spark.sql.codegen.factoryMode": "FALLBACK"}


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rows", type=int, default=10_000_000, help="rows of the smaller table")
    parser.add_argument("--large", type=int, default=200_000_000, help="rows of the larger table (12 GB of files)")
    parser.add_argument("--day-rows", type=int, default=166_666, help="rows of a partition, in ten files")
    parser.add_argument("--batch", type=int, default=20_000, help="changes of a batch of five minutes")
    parser.add_argument("--repeat", type=int, default=5, help="turns that count")
    parser.add_argument("--warm", type=int, default=2, help="turns before them")
    parser.add_argument("--parts", nargs="+", choices=_PARTS, default=_PARTS, help="what to measure (default: all)")
    parser.add_argument("--workloads", nargs="+", choices=WORKLOADS, default=tuple(WORKLOADS), help="some of them")
    parser.add_argument("--codegen", action="store_true", help="compile queries, which the warehouse does not")
    parser.add_argument("--folder", type=Path, help="where tables are made, and kept (default: a passing folder)")


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() if arguments.folder is None else nullcontext(arguments.folder) as folder:
        rounds = Rounds(_session(Path(folder), arguments), Path(folder), arguments.warm, arguments.repeat)
        figures: dict[str, Any] = {}
        for part in arguments.parts:
            figures |= _MEASURES[part](rounds, arguments)
        if {"small", "large"} <= set(arguments.parts):
            figures["growth_ratio"] = round(figures["large_ours_seconds"] / figures["small_ours_seconds"], 2)
        return figures


def _session(folder: Path, arguments: argparse.Namespace) -> SparkSession:
    spark = spark_session(Settings.at(folder, spark_memory="4g")).newSession()
    for name, value in (_CODEGEN if arguments.codegen else {}).items():
        spark.conf.set(name, value)
    return spark


def _shape(arguments: argparse.Namespace, rows: int) -> TableShape:
    return TableShape(max(2, rows // arguments.day_rows), arguments.day_rows, 10, arguments.batch)


def _small(rounds: Rounds, arguments: argparse.Namespace) -> dict[str, Any]:
    return _compared(rounds, _shape(arguments, arguments.rows), "small")


def _large(rounds: Rounds, arguments: argparse.Namespace) -> dict[str, Any]:
    return _compared(rounds, _shape(arguments, arguments.large), "large")


def _compared(rounds: Rounds, shape: TableShape, name: str) -> dict[str, Any]:
    figures = rounds.turns(shape, five_minutes, COMPARED)
    speedup = round(figures["naive_seconds"] / figures["ours_seconds"], 2)
    return {**{f"{name}_{key}": value for key, value in figures.items()}, f"speedup_{name}": speedup}


def _floor(rounds: Rounds, _: argparse.Namespace) -> dict[str, Any]:
    figures = rounds.turns(TableShape(1, 100, 1, 1), one_row, OURS)
    return {"floor_seconds": figures["ours_seconds"], "floor_cpu_seconds": figures["ours_cpu_seconds"]}


def _workloads(rounds: Rounds, arguments: argparse.Namespace) -> dict[str, Any]:
    shape, figures, worst = _shape(arguments, arguments.rows), dict[str, Any](), 0.0
    for kind in ("", "dv_"):
        for name in arguments.workloads:
            batch_of = WORKLOADS[name]
            others = {**FIXED, **(BLIND if batch_of is inserts_only else {})}
            figures = rounds.turns(shape, batch_of, {**OURS, **others}, vectors=bool(kind))
            ratio = round(figures["ours_seconds"] / min(figures[f"{way}_seconds"] for way in others), 2)
            worst = max(worst, ratio)
            told = {f"{kind}{name}_{key}": value for key, value in figures.items() if key not in ("rows", "files")}
            figures |= {**told, f"{kind}{name}_vs_best": ratio}
    return {**figures, "worst_vs_best_strategy": worst}


_MEASURES: Final = {"small": _small, "large": _large, "floor": _floor, "workloads": _workloads}
