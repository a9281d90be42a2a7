"""Reads ranges of shards in the lake, at a given version."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import functions as sf

from tidemark.capture.audit.audited_range import Patch, bucket_sql, is_in_buckets, is_in_slice
from tidemark.capture.audit.group_checksum import GroupChecksum, Groups, checksum_sql
from tidemark.capture.audit.row_comparison import LakeRow
from tidemark.delta.delta_rs_table import read_table
from tidemark.dependency_model.time.spark_time_zone import SPARK_TIME_ZONE
from tidemark.quoting.spark import among, quote, sql_literal, typed_literal
from tidemark.spark.temporary_settings import COMPILED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame, SparkSession

    from tidemark.capture.audit.compared_shard import ComparedShard
    from tidemark.system.table_location import TableLocation

_SETTINGS = {**COMPILED, "spark.sql.ansi.enabled": "true", "spark.sql.session.timeZone": SPARK_TIME_ZONE}
"""Decimals are printed without an exponent, and times in UTC."""


@dataclass(frozen=True)
class LakeReader:
    """Reads tables of a warehouse, with one Spark job for each call."""

    spark: SparkSession
    warehouse: TableLocation

    @classmethod
    def of(cls, spark: SparkSession, warehouse: TableLocation) -> LakeReader:
        """A reader with its own session."""
        own = spark.newSession()
        for name, value in _SETTINGS.items():
            own.conf.set(name, value)
        return cls(own, warehouse)

    def groups(self, patches: Sequence[Patch], shard: ComparedShard, version: int) -> list[Groups]:
        """Counts and checksums by bucket, for several patches of one shard."""
        number = " ".join(f"WHEN {_condition(patch, shard)} THEN {at}" for at, patch in enumerate(patches))
        slices = patches[0].range
        grouped = (
            self._rows(patches, shard, version)
            .selectExpr(
                f"CASE {number} END AS patch",
                f"{bucket_sql(shard.key_texts[1], slices, 'DIV')} AS bucket",
                f"{shard.row_texts[1]} AS text",
            )
            .groupBy("patch", "bucket")
        )
        groups: list[dict[int, GroupChecksum]] = [{} for _ in patches]
        for row in grouped.agg(sf.count("*").alias("n"), sf.expr(checksum_sql("text")).alias("checksum")).collect():
            groups[row["patch"]][row["bucket"]] = GroupChecksum(row["n"], row["checksum"])
        return list(groups)

    def rows(self, patches: Sequence[Patch], shard: ComparedShard, version: int) -> list[dict[str, list[LakeRow]]]:
        """The rows of each key text, for several patches of one shard, which may overlap.

        A key has more than one row if the lake has it more than once.
        """
        numbers = ", ".join(f"IF({_condition(patch, shard)}, {at}, NULL)" for at, patch in enumerate(patches))
        chosen = self._rows(patches, shard, version).selectExpr(
            f"explode(array_compact(array({numbers}))) AS patch",
            f"{shard.key_texts[1]} AS key",
            f"{shard.row_texts[1]} AS text",
            "`_offset` AS offset",
        )
        rows: list[dict[str, list[LakeRow]]] = [{} for _ in patches]
        for row in chosen.collect():
            rows[row["patch"]].setdefault(row["key"], []).append(LakeRow(row["text"], row["offset"]))
        return rows

    def _rows(self, patches: Sequence[Patch], shard: ComparedShard, version: int) -> DataFrame:
        table = read_table(self.spark, self.warehouse / patches[0].table, version)
        any_of = " OR ".join(f"({_condition(patch, shard)})" for patch in patches)
        return table.where(f"`_shard` = {sql_literal(patches[0].shard)}").where(any_of)


def _condition(patch: Patch, shard: ComparedShard) -> str:
    """SQL of the condition for the patch's rows."""
    text, range_, sides = shard.key_texts[1], patch.range, list[str]()
    if shard.first is not None:
        first, kind = quote(shard.first[1].name), shard.first[1].delta
        bounds = (("> ", range_.low), ("<= ", range_.high))
        sides = [f"{first} {sign}{typed_literal(value, kind)}" for sign, value in bounds if value is not None]
        sides += [among(first, kind, [str(value) for value in patch.first_values])] * bool(patch.first_values)
    in_buckets = is_in_buckets(bucket_sql(text, range_, "DIV"), patch.buckets)
    return " AND ".join((*sides, is_in_slice(text, range_), in_buckets))
