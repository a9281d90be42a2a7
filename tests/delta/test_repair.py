"""One partition as it was: what the plan says, what is in the table afterwards, and what is refused."""

import json
import os
import shutil
import signal
import subprocess
import sys
import uuid
from datetime import date
from pathlib import Path

import pytest
from delta import DeltaTable
from pyspark.sql import SparkSession

from tests.lake_folder import lake_folder
from tidemark.delta import repair as repair_module
from tidemark.delta.delta_rs_table import current_version, read_partition, table_metrics
from tidemark.delta.errors import (
    ColumnsDifferError,
    NotADeltaTableError,
    PartitionChangedError,
    TableFeatureError,
    VersionGoneError,
)
from tidemark.delta.repair import RepairReport, repair_partition
from tidemark.delta.repair_plan import plan_repair
from tidemark.delta.replace_partition import replace_partition
from tidemark.quoting.spark import path_table
from tidemark.state_store.database import Database
from tidemark.state_store.held_leases import holding
from tidemark.storage.stored_files import stored_files
from tidemark.system.crash_points import ENV_NAME
from tidemark.system.errors import AlreadyRunningError, SchemaChangedError
from tidemark.system.table_location import TableLocation

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("repair")]

MONDAY, TUESDAY = {"dt": date(2026, 3, 23)}, {"dt": date(2026, 3, 24)}


@pytest.fixture(scope="module")
def session(spark: SparkSession) -> SparkSession:
    own = spark.newSession()
    own.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    return own


@pytest.fixture(scope="module")
def made_table(session: SparkSession, warehouse_location: TableLocation) -> TableLocation:
    """Monday is 1 and 2 in version 1 and wrong from version 3 on; Tuesday came between."""
    path = warehouse_location / uuid.uuid4().hex
    session.sql(f"CREATE TABLE {path_table(path)} (id BIGINT, dt DATE) USING delta PARTITIONED BY (dt)")
    for day, ids in ((MONDAY, [1, 2]), (TUESDAY, [3]), (MONDAY, [7, 8, 9])):
        write(session, path, day, ids)
    return path


@pytest.fixture
def table(made_table: TableLocation, lake: TableLocation) -> TableLocation:
    """A copy, as making it takes longer than repairing it."""
    shutil.copytree(lake_folder(made_table), lake_folder(lake))
    return lake


def state_store(table: TableLocation) -> Database:
    """One of this table alone."""
    return Database.at(Path(f"{lake_folder(table)}.db"))


def write(session: SparkSession, path: TableLocation, day: dict[str, date], ids: list[int]) -> None:
    replace_partition(session.createDataFrame([(id_,) for id_ in ids], "id BIGINT").coalesce(1), path, day)


def ids(path: TableLocation, day: dict[str, date]) -> list[int]:
    return sorted(read_partition(path, day)["id"].to_pylist())


def repaired(session: SparkSession, table: TableLocation, source: int = 1) -> RepairReport:
    return repair_partition(session, plan_repair(session, table, MONDAY, source), state_store(table))


def test_the_plan_lists_changes_and_makes_none(session: SparkSession, table: TableLocation) -> None:
    plan = plan_repair(session, table, MONDAY, 1)
    assert (plan.way, plan.at, plan.source, plan.rows_now, plan.rows_then) == ("metadata", 3, 1, 3, 2)
    assert (len(plan.removed), len(plan.restored)) == (1, 1)
    assert plan.bytes_removed == table_metrics(table, MONDAY).size_bytes
    assert current_version(table) == 3
    assert ids(table, MONDAY) == [7, 8, 9]


def test_old_files_are_put_back_and_nothing_is_written(session: SparkSession, table: TableLocation) -> None:
    before = set(stored_files(table).names())
    report = repaired(session, table)
    assert (report.version, report.files_written) == (4, 0)
    assert set(stored_files(table).names()) == before
    assert ids(table, MONDAY) == [1, 2]
    assert ids(table, TUESDAY) == [3]
    said = json.loads(DeltaTable.forPath(session, str(table)).history(1).collect()[0]["userMetadata"])["repair"]
    assert (said["from_version"], said["way"], said["rows_after"]) == (1, "metadata", 2)
    assert session.read.format("delta").option("versionAsOf", 3).load(str(table)).count() == 4, "history stays"


def test_an_equal_partition_makes_no_commit(session: SparkSession, table: TableLocation) -> None:
    repaired(session, table)
    again = repaired(session, table)
    assert (again.plan.way, again.version) == ("nothing", 4)


def test_a_partition_that_did_not_exist_is_emptied(session: SparkSession, table: TableLocation) -> None:
    assert repaired(session, table, source=0).plan.rows_then == 0
    assert ids(table, MONDAY) == []


def test_columns_that_came_later_are_null_in_old_rows(session: SparkSession, table: TableLocation) -> None:
    session.sql(f"ALTER TABLE {path_table(table)} ADD COLUMNS (note STRING)")
    assert repaired(session, table).plan.way == "metadata"
    assert read_partition(table, MONDAY)["note"].to_pylist() == [None, None]


def test_a_vacuumed_version_is_refused(session: SparkSession, table: TableLocation) -> None:
    session.sql(f"VACUUM {path_table(table)} RETAIN 0 HOURS")
    before = current_version(table)
    with pytest.raises(VersionGoneError, match="version 1 was vacuumed"):
        plan_repair(session, table, MONDAY, 1)
    assert current_version(table) == before


def test_rows_are_computed_again(session: SparkSession, table: TableLocation) -> None:
    plan = plan_repair(session, table, MONDAY, None)
    assert (plan.way, plan.rows_now, plan.rows_then) == ("recompute", 3, None)
    rows = session.createDataFrame([(4,), (5,)], "id BIGINT").coalesce(1)
    report = repair_partition(session, plan, state_store(table), rows)
    assert (report.rows, report.files_written) == (2, 1)
    assert (ids(table, MONDAY), ids(table, TUESDAY)) == ([4, 5], [3])
    with pytest.raises(ValueError, match="rows are only allowed"):
        repair_partition(session, plan, state_store(table))


def test_after_a_schema_change_rows_are_written_again(session: SparkSession, table: TableLocation) -> None:
    session.sql(f"ALTER TABLE {path_table(table)} ADD CONSTRAINT some CHECK (id > 0)")
    report = repaired(session, table)
    assert (report.plan.way, report.plan.reason) == ("rewrite", "the table has new constraints")
    assert report.files_written == 1
    assert report.bytes_written == table_metrics(table, MONDAY).size_bytes
    assert (ids(table, MONDAY), ids(table, TUESDAY)) == ([1, 2], [3])


def test_old_rows_that_break_a_rule_of_today_are_refused(session: SparkSession, table: TableLocation) -> None:
    write(session, table, MONDAY, [7])
    session.sql(f"ALTER TABLE {path_table(table)} ADD CONSTRAINT some CHECK (id > 2)")
    with pytest.raises(Exception, match="CHECK constraint some"):
        repaired(session, table)
    assert ids(table, MONDAY) == [7]


@pytest.mark.long
def test_hidden_rows_come_back_and_go_again(session: SparkSession, table: TableLocation) -> None:
    name = path_table(table)
    session.sql(f"ALTER TABLE {name} SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
    DeltaTable.forPath(session, str(table)).delete("id = 8")
    hidden = current_version(table) or 0
    DeltaTable.forPath(session, str(table)).delete("id = 9")
    report = repaired(session, table, hidden)
    assert (report.plan.way, report.plan.rows_now, report.plan.rows_then) == ("metadata", 1, 2)
    assert visible(session, table) == [3, 7, 9]
    assert repaired(session, table, 3).rows == 3
    assert visible(session, table) == [3, 7, 8, 9]
    assert repaired(session, table, hidden + 1).rows == 1
    assert visible(session, table) == [3, 7]


def visible(session: SparkSession, table: TableLocation) -> list[int]:
    return sorted(row["id"] for row in session.read.format("delta").load(str(table)).collect())


def test_columns_that_are_gone_are_refused(session: SparkSession, table: TableLocation) -> None:
    session.sql(f"ALTER TABLE {path_table(table)} ADD COLUMNS (note STRING)")
    before = current_version(table) or 0
    rows = session.createDataFrame([(1, MONDAY["dt"])], "id BIGINT, dt DATE")
    writer = rows.write.format("delta").mode("overwrite").option("overwriteSchema", "true").partitionBy("dt")
    writer.save(str(table))
    with pytest.raises(SchemaChangedError, match="no column note"):
        plan_repair(session, table, MONDAY, before)
    name = path_table(table)
    session.sql(f"ALTER TABLE {name} SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')")
    with pytest.raises(TableFeatureError, match="column mapping"):
        plan_repair(session, table, MONDAY, 1)


def test_a_schema_that_changes_meanwhile(
    session: SparkSession, table: TableLocation, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_repair(session, table, MONDAY, 1)

    def meanwhile(point: str) -> None:
        if point == "repair.before_commit":
            session.newSession().sql(f"ALTER TABLE {path_table(table)} ADD COLUMNS (note STRING)")

    monkeypatch.setattr(repair_module, "crash_point", meanwhile)
    with pytest.raises(ColumnsDifferError, match="another writer changed"):
        repair_partition(session, plan, state_store(table))
    assert ids(table, MONDAY) == [7, 8, 9]


def test_bad_input(session: SparkSession, table: TableLocation) -> None:
    with pytest.raises(VersionGoneError, match="the version does not exist"):
        plan_repair(session, table, MONDAY, 17)
    with pytest.raises(ColumnsDifferError, match="no column day in the table"):
        plan_repair(session, table, {"day": date(2026, 3, 23)}, 1)
    with pytest.raises(NotADeltaTableError):
        plan_repair(session, table.parent, MONDAY, 1)


def test_rows_that_came_after_the_plan_are_not_lost(session: SparkSession, table: TableLocation) -> None:
    plan = plan_repair(session, table, MONDAY, 1)
    append(session, table, MONDAY, 10)
    with pytest.raises(PartitionChangedError, match="another writer changed dt=2026-03-23"):
        repair_partition(session, plan, state_store(table))
    assert ids(table, MONDAY) == [7, 8, 9, 10]


@pytest.mark.parametrize(("day", "refused"), [(MONDAY, True), (TUESDAY, False)])
def test_an_append_at_the_same_moment(
    session: SparkSession, table: TableLocation, monkeypatch: pytest.MonkeyPatch, day: dict[str, date], *, refused: bool
) -> None:
    plan = plan_repair(session, table, MONDAY, 1)

    def meanwhile(point: str) -> None:
        if point == "repair.before_commit":
            append(session.newSession(), table, day, 10)

    monkeypatch.setattr(repair_module, "crash_point", meanwhile)
    if refused:
        with pytest.raises(PartitionChangedError):
            repair_partition(session, plan, state_store(table))
        assert ids(table, MONDAY) == [7, 8, 9, 10]
    else:
        repair_partition(session, plan, state_store(table))
        assert (ids(table, MONDAY), ids(table, TUESDAY)) == ([1, 2], [3, 10])


def append(session: SparkSession, table: TableLocation, day: dict[str, date], id_: int) -> None:
    session.createDataFrame([(id_, day["dt"])], "id BIGINT, dt DATE").write.format("delta").mode("append").save(
        str(table)
    )


def test_one_repair_of_a_partition_at_a_time(session: SparkSession, table: TableLocation) -> None:
    plan, database = plan_repair(session, table, MONDAY, 1), state_store(table)
    with holding(database, f"maintain {table}", "repairing"), pytest.raises(AlreadyRunningError):
        repair_partition(session, plan, database)
    assert repair_partition(session, plan, database).version == 4


@pytest.mark.long
@pytest.mark.parametrize(
    ("point", "expected"),
    [("repair.before_write", [7, 8, 9]), ("repair.before_commit", [7, 8, 9]), ("repair.after_commit", [1, 2])],
)
def test_killed_it_is_done_or_not(
    session: SparkSession, table: TableLocation, tmp_path: Path, point: str, expected: list[int]
) -> None:
    program = (
        "from pathlib import Path; import sys\n"
        "from tidemark.system.settings import Settings; from tidemark.spark.session import spark_session\n"
        "from tidemark.system.table_location import table_location\n"
        "from tests.delta.test_repair import repaired\n"
        "table = table_location(sys.argv[1])\n"
        "repaired(spark_session(Settings.at(Path(sys.argv[2]), warehouse=table.parent)), table)\n"
    )
    env = {**os.environ, ENV_NAME: point}
    command = [sys.executable, "-c", program, str(table), str(tmp_path)]
    killed = subprocess.run(command, env=env, check=False, timeout=300)
    assert killed.returncode == -signal.SIGKILL
    assert ids(table, MONDAY) == expected
    assert ids(table, TUESDAY) == [3]
    repaired(session, table)
    assert ids(table, MONDAY) == [1, 2]
