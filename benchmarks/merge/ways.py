"""Ours, and the fixed strategies that it is compared with; each takes what `merge_changes` takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as sf

from benchmarks.merge.table import COLUMNS
from tidemark.delta.merge import merge_changes, run_merge_statement
from tidemark.delta.merge_target import MergeTarget
from tidemark.quoting.spark import among, path_table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from pyspark.sql import DataFrame

    from tidemark.delta.commit_info import Transaction

    Partitions = frozenset[str | None]
    Way = Callable[[DataFrame, MergeTarget, Partitions, Transaction], object]


def target(path: Path) -> MergeTarget:
    return MergeTarget(path, COLUMNS, ("id",), "_offset", "dt", "DATE")


def naive(changes: DataFrame, where: MergeTarget, _: Partitions, transaction: Transaction) -> int:
    """MERGE on the key alone, as one writes it first."""
    return run_merge_statement(changes, where, None, transaction)


def overwrite(changes: DataFrame, where: MergeTarget, partitions: Partitions, _: Transaction) -> None:
    """The touched partitions read, joined and written as a whole."""
    inside = among("dt", "DATE", partitions)
    old = changes.sparkSession.table(path_table(where.path)).where(inside)
    kept = old.join(sf.broadcast(changes.select("id")), "id", "left_anti").select(*COLUMNS)
    whole = kept.unionByName(changes.where("_op <> 'd'").select(*COLUMNS))
    whole.write.format("delta").mode("overwrite").option("replaceWhere", inside).save(str(where.path))


def append(changes: DataFrame, where: MergeTarget, _: Partitions, __: Transaction) -> None:
    """Blind: right only where every key is known to be new."""
    changes.select(*COLUMNS).write.format("delta").mode("append").save(str(where.path))


OURS: Final[Mapping[str, Way]] = {"ours": merge_changes}
COMPARED: Final[Mapping[str, Way]] = {"naive": naive, **OURS}
FIXED: Final[Mapping[str, Way]] = {"statement": run_merge_statement, "overwrite": overwrite}
"""MERGE with literals of the touched partitions; on a table with deletion vectors it hides rows."""
BLIND: Final[Mapping[str, Way]] = {"append": append}
