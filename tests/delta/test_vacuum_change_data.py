"""What readers of a table's changes are given goes with the versions that made it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from tidemark.delta.retention import Claim, Retention
from tidemark.delta.vacuum import vacuum
from tidemark.quoting.spark import path_table
from tidemark.state_store.database import Database
from tidemark.storage.stored_files import stored_files

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tidemark.system.table_location import TableLocation

pytestmark = pytest.mark.spark


def test_changes_go_with_their_version(spark: SparkSession, lake: TableLocation, tmp_path: Path) -> None:
    name = path_table(lake / "t")
    spark.sql(f"CREATE TABLE {name} (id INT) USING delta TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')")
    spark.sql(f"INSERT INTO {name} SELECT id FROM range(10)")  # noqa: S608 - a quoted name
    spark.sql(f"DELETE FROM {name} WHERE id = 4")  # noqa: S608 - a quoted name
    spark.sql(f"INSERT INTO {name} VALUES (11)")  # noqa: S608 - a quoted name
    database, late = Database.at(tmp_path / "state.db"), datetime(2100, 1, 1, tzinfo=UTC)

    def left(*claims: Claim) -> int:
        vacuum(lake / "t", Retention(versions=1, age=timedelta(0)), claims, database, late)
        return sum("_change_data/" in file.name for file in stored_files(lake / "t").walk())

    assert [left(Claim(2, "read by a reader of changes")), left()] == [1, 0]
