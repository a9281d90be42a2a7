"""Spark reads a replica as it reads the table: hidden rows stay hidden, and its own commits go on there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from delta.tables import DeltaTable

from tests.replication.lakes import TwoLakes
from tidemark.delta.delta_rs_table import current_version, read_table
from tidemark.quoting.spark import path_table

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

DAY = "2026-03-28"


@pytest.mark.long
@pytest.mark.spark
def test_spark_reads_the_rows_that_deletion_vectors_leave(spark: SparkSession, tmp_path: Path) -> None:
    lakes = TwoLakes.at(tmp_path)
    spark.sql(
        f"CREATE TABLE {path_table(lakes.source)} (id BIGINT, dt DATE) USING delta PARTITIONED BY (dt) "
        "TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"
    )
    spark.range(0, 5_000, 1, 1).selectExpr("id", f"DATE '{DAY}' AS dt").write.format("delta").mode("append").save(
        str(lakes.source)
    )
    lakes.complete(DAY, current_version(lakes.source) or 0)
    first = lakes.replicate()
    DeltaTable.forPath(spark, str(lakes.source)).delete("id % 100 = 7")
    lakes.complete(DAY, current_version(lakes.source) or 0)

    report = lakes.replicate()

    assert (first.published, report.published, report.troubles) == (1, 1, {})
    assert report.sent_bytes < first.sent_bytes / 10
    there, here = read_table(spark, lakes.replica), read_table(spark, lakes.source)
    assert (there.count(), there.exceptAll(here).count()) == (4_950, 0)
    DeltaTable.forPath(spark, str(lakes.replica)).delete("id = 1")
    assert read_table(spark, lakes.replica).count() == 4_949
