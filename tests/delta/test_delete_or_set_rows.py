"""Rows deleted or set once: also where no row matches, which Delta itself does not commit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tidemark.delta.commit_info import Transaction
from tidemark.delta.delete_or_set_rows import delete_rows, set_columns
from tidemark.delta.delta_rs_table import applied_transaction, read_rows
from tidemark.quoting.spark import path_table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tidemark.system.table_location import TableLocation

pytestmark = pytest.mark.spark


@pytest.fixture
def path(spark: SparkSession, lake: TableLocation) -> TableLocation:
    spark.sql(f"CREATE TABLE {path_table(lake)} (id BIGINT, v STRING) USING delta")
    spark.sql(f"INSERT INTO {path_table(lake)} VALUES (1, 'a'), (2, 'b')")  # noqa: S608 - our own path
    return lake


def test_a_session_that_never_committed_deletes_nothing(spark: SparkSession, path: TableLocation) -> None:
    """A capture that was just started, asked to take out the rows of a shard that has none."""
    before, _ = applied_transaction(path, "capture")
    version = delete_rows(spark.newSession(), path, "id > 9", Transaction("capture", 1, "{}"))
    assert (version, applied_transaction(path, "capture")) == (before + 1, (before + 1, 1))


def test_rows_are_deleted_and_set_once(spark: SparkSession, path: TableLocation) -> None:
    session = spark.newSession()
    deleted = delete_rows(session, path, "id = 1", Transaction("capture", 1, "{}"))
    assert delete_rows(session, path, "id = 2", Transaction("capture", 1, "{}")) == deleted
    set_version = set_columns(session, path, {"v": "'c'"}, "id = 2", Transaction("capture", 2, "{}"))
    assert set_version == deleted + 1
    assert set_columns(session, path, {"v": "'d'"}, "id = 9", Transaction("capture", 3, "{}")) == set_version + 1
    assert read_rows(path).to_pylist() == [{"id": 2, "v": "c"}]
