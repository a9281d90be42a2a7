"""Delta's own MERGE, pruned by partition literals, for tables with features that a plain rewrite does not support.

`t.dt IN (literals)` prunes the target's scan, `t.dt = s.dt` does not. The literals must include the partitions of
before- *and* after-images, or a row that moves would be duplicated (facts.md, "Delta 4.4").
"""

from pyspark.sql import DataFrame

from tidemark.delta.commit_info import Transaction, commit_with
from tidemark.delta.merge_target import MergeTarget
from tidemark.quoting.spark import among, path_table, quote

_SOURCE = "changes_to_merge"


def run_merge_statement(
    changes: DataFrame, target: MergeTarget, partitions: frozenset[str | None] | None, transaction: Transaction
) -> int:
    """Merge with one statement and return the version. A replay (same application and number) changes nothing."""
    spark = changes.sparkSession
    changes.createOrReplaceTempView(_SOURCE)
    return commit_with(spark, transaction, lambda: spark.sql(merge_sql(target, _SOURCE, partitions)))


def merge_sql(target: MergeTarget, source: str, partitions: frozenset[str | None] | None) -> str:
    """The statement. Changes that are not newer than the table's row are ignored."""
    newer = f"s.{quote(target.newer)} > t.{quote(target.newer)}"
    columns = [quote(name) for name in target.columns]
    sets = ", ".join(f"t.{name} = s.{name}" for name in columns)
    return "\n".join(
        [
            f"MERGE INTO {path_table(target.path)} AS t USING {source} AS s ON {_condition(target, partitions)}",
            f"WHEN MATCHED AND s._op = 'd' AND {newer} THEN DELETE",
            f"WHEN MATCHED AND s._op <> 'd' AND {newer} THEN UPDATE SET {sets}",
            f"WHEN NOT MATCHED AND s._op <> 'd' THEN INSERT ({', '.join(columns)})",
            f"VALUES ({', '.join(f's.{name}' for name in columns)})",
        ]
    )


def _condition(target: MergeTarget, partitions: frozenset[str | None] | None) -> str:
    same_key = [f"t.{quote(name)} = s.{quote(name)}" for name in target.key]
    if target.partition_column is None or partitions is None:
        return " AND ".join(same_key)
    inside = among(f"t.{quote(target.partition_column)}", target.partition_type or "STRING", partitions)
    return " AND ".join([inside, *same_key])
