"""The public ways give the same content as the private ones, and refuse the same."""

from datetime import date

import pytest
from pyspark.sql import SparkSession

from tidemark.delta.clustering.cluster_table import Clustering, cluster_table
from tidemark.delta.clustering.filter_usage import usages_of
from tidemark.delta.commit_info import Transaction
from tidemark.delta.delta_rs_table import Partition, applied_transaction, read_rows, table_metrics
from tidemark.delta.empty_commit import commit_nothing
from tidemark.delta.errors import InterfaceMissingError
from tidemark.delta.merge import merge_changes
from tidemark.delta.merge_target import MergeTarget
from tidemark.delta.repair_plan import plan_repair
from tidemark.delta.replace_partition import replace_partition, replace_partitions
from tidemark.quoting.spark import path_table
from tidemark.system.errors import SchemaChangedError
from tidemark.system.table_location import TableLocation

pytestmark = [pytest.mark.spark, pytest.mark.long]

DAYS: tuple[Partition, ...] = ({"dt": date(2026, 3, 23)}, {"dt": date(2026, 3, 24)})
Rows = list[tuple[object, ...]]


@pytest.fixture(params=["private", "public"])
def way(request: pytest.FixtureRequest) -> str:
    if request.param == "public":
        request.getfixturevalue("public_ways")
    return str(request.param)


def rows_of(path: TableLocation) -> Rows:
    return sorted(tuple(row.values()) for row in read_rows(path).to_pylist())


def test_partitions_are_replaced(spark: SparkSession, way: str, lake: TableLocation) -> None:
    path = lake
    first, second = (spark.createDataFrame([row], "id INT, v STRING") for row in ((1, "a"), (2, "b")))
    replace_partitions([(DAYS[0], first), (DAYS[1], second)], path)
    replaced = replace_partition(spark.createDataFrame([(3, "c"), (4, "d")], "id INT, v STRING"), path, DAYS[1])
    assert (replaced.version, replaced.metrics[0].rows) == (1, 2)
    assert sorted(row.id for row in replaced.rows.collect()) == [3, 4]
    replace_partition(spark.createDataFrame([(5, "e", 1.5)], "id INT, v STRING, x DOUBLE"), path, DAYS[0])
    assert rows_of(path) == [
        (3, "c", DAYS[1]["dt"], None),
        (4, "d", DAYS[1]["dt"], None),
        (5, "e", DAYS[0]["dt"], 1.5),
    ]
    with pytest.raises(SchemaChangedError, match="no column v"):
        replace_partition(spark.createDataFrame([(1,)], "id INT"), path, DAYS[0])
    with pytest.raises(SchemaChangedError, match="partitioned by something else"):
        replace_partition(second, path, {"hour": "07"})
    assert table_metrics(path).rows == 3


def test_batches_are_merged_and_an_empty_commit_is_made_once(
    spark: SparkSession, way: str, lake: TableLocation
) -> None:
    path, session = lake, spark.newSession()
    spark.sql(
        f"CREATE TABLE {path_table(path)} (id BIGINT, part STRING, v STRING, _offset BIGINT) USING delta"
        " PARTITIONED BY (part)"
    )
    target = MergeTarget(path, ("id", "part", "v", "_offset"), ("id",), "_offset", "part", "STRING")
    batches: list[list[tuple[str, int, str, str, int]]] = [
        [("c", 1, "x", "1", 1), ("c", 2, "x", "1", 1), ("c", 3, "y", "1", 1)],
        [("u", 1, "y", "2", 2), ("d", 2, "x", "", 2), ("c", 4, "x", "2", 2), ("u", 3, "y", "stale", 0)],
    ]
    for number, batch in enumerate(batches, start=1):
        changes = session.createDataFrame(batch, "_op STRING, id BIGINT, part STRING, v STRING, _offset BIGINT")
        for is_replay in (False, True):
            report = merge_changes(changes, target, frozenset({"x", "y"}), Transaction("app", number, ""))
            assert (report.version, report.replayed) == (number, is_replay)
    assert rows_of(path) == [(1, "y", "2", 2), (3, "y", "1", 1), (4, "x", "2", 2)]
    made = [commit_nothing(session, path, Transaction("app", 3, '{"n": 3}')) for _ in range(2)]
    assert (made, applied_transaction(path, "app")) == ([3, 3], (3, 3))
    assert len(rows_of(path)) == 3


def test_a_table_is_clustered(spark: SparkSession, way: str, lake: TableLocation) -> None:
    path = lake
    for start in (0, 100):
        frame = spark.range(start, start + 100).selectExpr("id", "id % 7 AS k")
        frame.repartition(2).write.format("delta").mode("append").save(str(path))
    before = rows_of(path)
    report = cluster_table(spark, path, Clustering.by("k"))
    assert (report.files_before, report.rows, len(report.versions)) == (4, 200, 1)
    assert rows_of(path) == before


def test_a_plan_says_what_is_filtered_by(spark: SparkSession, way: str, lake: TableLocation) -> None:
    spark.range(10).write.format("delta").save(str(lake))
    usages = usages_of(spark.read.format("delta").load(str(lake)).where("id > 3"))
    assert [sorted(usage.columns) for usage in usages] == ([["id"]] if way == "private" else [])


def test_repair_is_refused_without_them(spark: SparkSession, public_ways: None, lake: TableLocation) -> None:
    replace_partition(spark.createDataFrame([(1,)], "id INT"), lake, DAYS[0])
    with pytest.raises(InterfaceMissingError, match=r"repairing a partition is not possible .* without .*NoSuchClass"):
        plan_repair(spark, lake, DAYS[0], 0)
