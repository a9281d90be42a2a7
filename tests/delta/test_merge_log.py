"""What merges leave in the log is what every reader of it expects: other engines, a new process, VACUUM, people."""

import json
import shutil
import uuid
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from tests.delta.internals.delta_log import files_by_checksum_and_log, forget_tables
from tests.lake_folder import lake_folder, table_of_others
from tidemark.delta.commit_info import Transaction
from tidemark.delta.delta_rs_table import read_table
from tidemark.delta.live_file import file_name
from tidemark.delta.merge import merge_changes
from tidemark.delta.merge_report import MergeReport
from tidemark.delta.merge_target import MergeTarget
from tidemark.quoting.spark import path_table
from tidemark.system.table_location import TableLocation

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("merge log")]

SCHEMA = "id BIGINT, part STRING, v STRING, _offset BIGINT"
BATCHES = 4
Row = tuple[int, str, str, int]


@pytest.fixture(scope="module")
def target(spark: SparkSession, warehouse_location: TableLocation) -> MergeTarget:
    """A table with a checkpoint after every third commit, and `BATCHES` merges in it; each is version 1, 2, ..."""
    path = warehouse_location / f"merge_log_{uuid.uuid4().hex}"
    spark.sql(
        f"CREATE TABLE {path_table(path)} ({SCHEMA}) USING delta PARTITIONED BY (part) "
        "TBLPROPERTIES ('delta.checkpointInterval' = '3')"
    )
    target = MergeTarget(path, ("id", "part", "v", "_offset"), ("id",), "_offset", "part", "STRING")
    for number in range(1, BATCHES + 1):
        assert merged(spark, target, number).version == number
    return target


def merged(spark: SparkSession, target: MergeTarget, number: int) -> MergeReport:
    """ChangeBatch `number`: two new rows, the newest old one moves, the one before it goes."""
    new = [("c", 10 * number + digit, "x", f"{number}", number) for digit in (0, 1)]
    old = [("u", 10 * (number - 1), "y", f"{number}", number), ("d", 10 * (number - 1) + 1, "x", "", number)]
    frame = spark.newSession().createDataFrame([*new, *(old if number > 1 else [])], f"_op STRING, {SCHEMA}")
    return merge_changes(frame, target, frozenset({"x", "y"}), Transaction("log", number, json.dumps({"n": number})))


def state(number: int) -> Counter[Row]:
    """The rows after batch `number`."""
    moved = [(10 * (key - 1), "y", f"{key}", key) for key in range(2, number + 1)]
    return Counter([*moved, *((10 * number + digit, "x", f"{number}", number) for digit in (0, 1))])


def count_rows(rows: pa.Table) -> Counter[Row]:
    return Counter((row["id"], row["part"], row["v"], row["_offset"]) for row in rows.to_pylist())


def describe_files(files: Any) -> dict[str, Any]:
    """A list of AddFiles as the log writes them, by path; an empty map of tags is none."""
    adds = [json.loads(str(file.json()))["add"] for file in files]
    return {add["path"]: {name: value for name, value in add.items() if value != {}} for add in adds}


def folder_of(target: MergeTarget) -> Path:
    return lake_folder(target.path)


def checksum(path: Path, version: int) -> dict[str, object]:
    checksum: dict[str, object] = json.loads((path / "_delta_log" / f"{version:020}.crc").read_text())
    return checksum


def test_delta_rs_and_duckdb_read_every_version(target: MergeTarget) -> None:
    for version in range(1, BATCHES + 1):
        table = table_of_others(target.path)
        table.load_as_version(version)
        assert count_rows(table.to_pyarrow_table()) == state(version)
        names = pa.table(table.get_add_actions(flatten=True))["path"].to_pylist()
        files = [str(folder_of(target) / name) for name in names]
        rows = duckdb.connect().read_parquet(files, hive_partitioning=True).to_arrow_table()
        assert count_rows(rows) == state(version)


@pytest.mark.long
def test_spark_reads_the_log_without_its_cache(spark: SparkSession, target: MergeTarget) -> None:
    """From the checkpoint and the commits after it, as a new process does; each checksum is what the log adds up to."""
    assert (folder_of(target) / "_delta_log" / "_last_checkpoint").exists()
    for version in range(1, BATCHES + 1):
        forget_tables(spark)
        assert count_rows(read_table(spark, target.path, version).toArrow()) == state(version)
        listed, reconstructed = files_by_checksum_and_log(spark, target.path, version)
        assert describe_files(listed) == describe_files(reconstructed)


def test_a_checksum_lists_the_live_files_and_the_transactions(target: MergeTarget) -> None:
    for version in range(1, BATCHES + 1):
        said = checksum(folder_of(target), version)
        table = table_of_others(target.path)
        table.load_as_version(version)
        files = pa.table(table.get_add_actions(flatten=True))
        sizes = dict(zip(map(file_name, files["path"].to_pylist()), files["size_bytes"].to_pylist(), strict=True))
        listed = said["allFiles"]
        assert isinstance(listed, list)
        assert {file_name(entry["path"]): entry["size"] for entry in listed} == sizes
        assert (said["numFiles"], said["tableSizeBytes"]) == (len(sizes), sum(sizes.values()))
        transactions = said["setTransactions"]
        assert isinstance(transactions, list)
        assert [(transaction["appId"], transaction["version"]) for transaction in transactions] == [("log", version)]


@pytest.mark.long
def test_the_history_names_the_merges(spark: SparkSession, target: MergeTarget) -> None:
    history = spark.sql(f"DESCRIBE HISTORY {path_table(target.path)}").orderBy("version").collect()[1:]
    assert [row["operation"] for row in history[:BATCHES]] == ["MERGE"] * BATCHES
    assert [json.loads(row["userMetadata"])["n"] for row in history[:BATCHES]] == list(range(1, BATCHES + 1))
    assert [row["readVersion"] for row in history[:BATCHES]] == list(range(BATCHES))
    assert not any(row["isBlindAppend"] for row in history[:BATCHES])
    metrics = history[3]["operationMetrics"]
    shown = ("Inserted", "Updated", "Deleted", "Copied")
    assert [metrics[f"numTargetRows{kind}"] for kind in shown] == ["2", "1", "1", "0"]
    assert metrics["numSourceRows"] == "4"


@pytest.mark.long
def test_vacuum_deletes_only_unused_files(spark: SparkSession, target: MergeTarget, lake: TableLocation) -> None:
    path = lake  # what VACUUM takes, the other tests still read
    shutil.copytree(folder_of(target), lake_folder(path))
    live = {file_name(uri) for uri in table_of_others(path).file_uris()}
    session = spark.newSession()
    session.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    session.sql(f"VACUUM {path_table(path)} RETAIN 0 HOURS")
    assert {file.name for file in lake_folder(path).rglob("part=*/*.parquet")} == live
    forget_tables(spark)
    assert count_rows(read_table(spark, path).toArrow()) == state(BATCHES)
