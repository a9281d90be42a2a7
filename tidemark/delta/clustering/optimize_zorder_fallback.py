"""Clustering by Delta's own command, where the interfaces that a pass of ours needs are missing: slower and coarser.

OPTIMIZE ZORDER rewrites all files that it is shown, each time: what an earlier pass wrote is not left alone.
"""

from collections.abc import Sequence

import pyarrow.compute as pc
from delta import DeltaTable
from pyspark.sql import SparkSession

from tidemark.delta.clustering.report import ClusterReport
from tidemark.delta.commit_conflict import BackOff, with_retries
from tidemark.delta.file_statistics import file_statistics
from tidemark.delta.open_table import open_table
from tidemark.system.table_location import TableLocation


def zorder_table(
    spark: SparkSession, path: TableLocation, columns: Sequence[str], where: str | None, back_off: BackOff
) -> ClusterReport:
    """Cluster by OPTIMIZE ZORDER BY; `where` may be on partition columns only. Raises CommitConflictError."""

    def attempt() -> None:
        builder = DeltaTable.forPath(spark, str(path)).optimize()
        chosen = builder if where is None else builder.where(where)
        chosen.executeZOrderBy(*columns)

    before = file_statistics(path)
    with_retries(path, attempt, back_off)
    after = file_statistics(path)
    if after.version == before.version:
        return ClusterReport()
    return _report(path, before.version + 1, after.version)


def _report(path: TableLocation, first: int, last: int) -> ClusterReport:
    """Of the OPTIMIZE among these versions."""
    commits = open_table(path).history(last - first + 1)
    done = next(commit for commit in commits if commit.get("operation") == "OPTIMIZE")
    version = int(done["version"])
    old, new = file_statistics(path, version - 1).files, file_statistics(path, version).files
    gone = old.filter(pc.invert(pc.is_in(old["path"], value_set=new["path"])))
    added = new.filter(pc.invert(pc.is_in(new["path"], value_set=old["path"])))
    return ClusterReport(
        versions=(version,),
        files_before=gone.num_rows,
        files_after=added.num_rows,
        bytes_before=int(pc.sum(gone["size_bytes"]).as_py() or 0),
        rows=int(pc.sum(added["num_records"]).as_py() or 0),
    )
