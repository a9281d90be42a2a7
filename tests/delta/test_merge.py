"""The MERGE statement's text, and what it does to rows that move, go, and come from the past."""

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tidemark.delta import merge_transaction as merge_attempt
from tidemark.delta.commit_info import Transaction
from tidemark.delta.delta_rs_table import read_table
from tidemark.delta.merge import merge_changes, merge_sql
from tidemark.delta.merge_target import MergeTarget
from tidemark.delta.open_table import open_table
from tidemark.quoting.spark import path_table, quote, sql_literal, typed_literal
from tidemark.system.table_location import TableLocation


def target(path: TableLocation) -> MergeTarget:
    return MergeTarget(path, ("id", "part", "v", "_offset"), ("id",), "_offset", "part", "STRING")


def test_the_partitions_are_literals() -> None:
    text = merge_sql(target(Path("/w/t")), "s", frozenset({"x", "it's", None}))
    assert (
        "ON (t.`part` IN (CAST('it\\'s' AS STRING), CAST('x' AS STRING)) OR t.`part` IS NULL) AND t.`id` = s.`id`"
        in text
    )


def test_without_known_partitions_nothing_is_pruned() -> None:
    assert "ON t.`id` = s.`id`\n" in merge_sql(target(Path("/w/t")), "s", None)


def test_quoting() -> None:
    assert quote("a`b") == "`a``b`"
    assert path_table(Path("/w/o")) == "delta.`/w/o`"
    assert sql_literal("it's \\") == "'it\\'s \\\\'"
    assert typed_literal(None, "DATE") == "NULL"


@pytest.mark.spark
def test_moved_deleted_new_and_stale_rows(spark: SparkSession, lake: TableLocation) -> None:
    path, session = lake / "t", spark.newSession()
    old = [(1, "x", "a", 10), (2, "x", "b", 10), (3, "y", "c", 10), (4, None, "d", 10)]
    schema = "id BIGINT, part STRING, v STRING, _offset BIGINT"
    session.createDataFrame(old, schema).write.format("delta").partitionBy("part").save(str(path))
    changes = [
        ("u", 1, "y", "moved", 11),
        ("d", 2, "x", "b", 11),
        ("u", 3, "y", "stale", 9),
        ("u", 4, "x", "from nowhere", 11),
        ("d", 5, "x", "never there", 11),
        ("c", 6, "z", "new", 11),
    ]
    frame = session.createDataFrame(changes, f"_op STRING, {schema}")
    version = merge_changes(
        frame, target(path), frozenset({"x", "y", "z", None}), Transaction("app", 3, '{"who": 1}')
    ).version
    rows = {(row["id"], row["part"], row["v"]) for row in read_table(spark, path, version).collect()}
    assert rows == {(1, "y", "moved"), (3, "y", "c"), (4, "x", "from nowhere"), (6, "z", "new")}
    table = open_table(path)
    assert (version, table.transaction_version("app")) == (1, 3)
    assert json.loads(table.history(1)[0]["userMetadata"])["who"] == 1


@pytest.mark.spark
@pytest.mark.long
def test_a_large_rewrite_is_shared_by_tasks_and_compiled(
    spark: SparkSession, lake: TableLocation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merge_attempt, "_TASK_BYTES", 3_000)
    monkeypatch.setattr("tidemark.spark.temporary_settings._COMPILED_ROWS", 400)
    monkeypatch.setattr(merge_attempt, "_MOST_NAMED", 3)
    path, session = lake / "t", spark.newSession()
    rows = session.range(0, 400, 1, 4).selectExpr("id", "'x' AS part", "md5(string(id)) AS v", "0L AS _offset")
    rows.write.format("delta").partitionBy("part").save(str(path))
    changes = session.range(0, 400, 100).selectExpr("'u' AS _op", "id", "'x' AS part", "'new' AS v", "1L AS _offset")
    report = merge_changes(changes.localCheckpoint(), target(path), frozenset("x"), Transaction("app", 1, "{}"))
    assert (report.updated, report.files_removed) == (4, 4)
    assert 1 < report.files_added <= report.bytes_removed // 3_000
    kept = read_table(spark, path)
    assert (kept.count(), kept.where("v = 'new'").count()) == (400, 4)
    assert session.conf.get("spark.sql.codegen.wholeStage") == "false"
