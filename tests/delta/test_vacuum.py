"""Files that are needed stay, files that are not go, and the plan says which and why."""

import os
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake
from pyspark.sql import SparkSession

from tidemark.delta.delta_rs_table import read_rows
from tidemark.delta.errors import NotADeltaTableError
from tidemark.delta.live_file import file_name
from tidemark.delta.open_table import delta_rs_options, open_table
from tidemark.delta.retention import Claim, Retention
from tidemark.delta.vacuum import UNKNOWN_AFTER, VacuumPlan, plan_vacuum, vacuum
from tidemark.quoting.spark import path_table
from tidemark.state_store.database import Database
from tidemark.state_store.held_leases import holding
from tidemark.state_store.version_claims import claims_of_readers, reading
from tidemark.storage.stored_files import stored_files
from tidemark.system.crash_points import ENV_NAME
from tidemark.system.errors import AlreadyRunningError
from tidemark.system.table_location import TableLocation

NEWEST_ONLY = Retention(versions=1, age=timedelta(0))
NOW = datetime(2100, 1, 1, tzinfo=UTC)


@pytest.fixture
def table(lake: TableLocation) -> TableLocation:
    """Version n holds the number n in each of two partitions, one of which has a name that the log encodes."""
    path = lake / "orders"
    for number in range(5):
        rows = pa.table({"id": [number, number], "part": ["x y", "z"]})
        options = delta_rs_options(path)
        write_deltalake(str(path), rows, mode="overwrite", partition_by=["part"], storage_options=options)
    return path


@pytest.fixture
def database(tmp_path: Path) -> Database:
    return Database.at(tmp_path / "state.db")


def run_vacuum(table: TableLocation, database: Database, *claims: Claim, now: datetime = NOW) -> VacuumPlan:
    return vacuum(table, NEWEST_ONLY, claims, database, now)


def ids(table: TableLocation, version: int) -> list[int]:
    return [int(row) for row in read_rows(table, version)["id"].to_pylist()]


def data_files(table: TableLocation) -> dict[str, int]:
    """Their sizes by their names."""
    return {file.name: file.size_bytes for file in stored_files(table).walk()}


@pytest.mark.spark
def test_sparks_own_vacuum_deletes_there_as_well(spark: SparkSession, table: TableLocation) -> None:
    """Delta lists the folders of data by the log store, from names that no file has."""
    needed = open_table(table).file_uris()
    session = spark.newSession()
    session.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    session.sql(f"VACUUM {path_table(table)} RETAIN 0 HOURS").collect()
    left = set(data_files(table))
    assert {file_name(name) for name in left} == {file_name(uri) for uri in needed}
    assert sorted(ids(table, 4)) == [4, 4]


def test_a_tagged_version_stays_readable_and_others_go(table: TableLocation, database: Database) -> None:
    plan = run_vacuum(table, database, Claim(2, "tagged 2026-03-23 [day]"))
    assert [(version.version, version.reasons) for version in plan.kept] == [
        (2, ("tagged 2026-03-23 [day]",)),
        (4, ("the newest",)),
    ]
    assert (ids(table, 2), ids(table, 4)) == ([2, 2], [4, 4])
    assert len(data_files(table)) == 4
    with pytest.raises(Exception, match=r"not found|No such file"):
        ids(table, 3)


def test_the_plan_tells_bytes_and_changes_nothing(table: TableLocation, database: Database) -> None:
    sizes = data_files(table)
    plan = plan_vacuum(table, NEWEST_ONLY, [Claim(2, "x")], database, NOW)
    assert data_files(table) == sizes
    assert set(plan.needless) < set(sizes)
    assert plan.needless_bytes + plan.live_bytes + plan.history_bytes == sum(sizes.values())
    assert plan.only == {2: plan.history_bytes, 4: plan.live_bytes}


def test_a_version_that_is_read_stays_until_the_reader_is_done(table: TableLocation, database: Database) -> None:
    with reading(database, str(table), 1, "an export"):
        assert run_vacuum(table, database).kept[0].reasons == ("read by an export",)
        assert ids(table, 1) == [1, 1]
    assert [version.version for version in run_vacuum(table, database).kept] == [4]
    assert len(data_files(table)) == 2


def test_a_dead_reader_holds_nothing(table: TableLocation, database: Database) -> None:
    program = (
        "import os, signal, sys\nfrom tidemark.state_store.version_claims import reading\n"
        "from tidemark.state_store.database import Database\n"
        "with reading(Database(sys.argv[1]), sys.argv[2], 1, 'x'):\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    killed = subprocess.run([sys.executable, "-c", program, str(database.url), str(table)], check=False, timeout=60)
    assert killed.returncode == -signal.SIGKILL
    assert [version.version for version in run_vacuum(table, database).kept] == [4]
    assert claims_of_readers(database, str(table)) == []


def test_uncommitted_files_are_deleted_when_no_writer_can_be_active(table: TableLocation, database: Database) -> None:
    store, stray = stored_files(table), "part=z/stray.parquet"
    store.put(stray, b"x")
    run_vacuum(table, database, now=datetime.now(UTC))
    assert store.exists(stray)
    run_vacuum(table, database, now=datetime.now(UTC) + UNKNOWN_AFTER + timedelta(minutes=1))
    assert not store.exists(stray)


def test_a_log_that_begins_with_a_checkpoint(table: TableLocation, database: Database) -> None:
    open_table(table, 2).create_checkpoint()
    stored_files(table).delete(f"_delta_log/{version:020}.json" for version in (0, 1, 2))
    plan = run_vacuum(table, database, Claim(2, "tagged"), Claim(1, "tagged"))
    assert [kept.version for kept in plan.kept] == [2, 4]
    assert (ids(table, 2), ids(table, 4)) == ([2, 2], [4, 4])


def test_one_at_a_time_and_a_table_only(table: TableLocation, lake: TableLocation, database: Database) -> None:
    with holding(database, f"maintain {table}", "x"), pytest.raises(AlreadyRunningError):
        run_vacuum(table, database)
    with pytest.raises(NotADeltaTableError):
        run_vacuum(lake, database)


@pytest.mark.slow
def test_killed_it_has_taken_nothing_that_is_needed(table: TableLocation, database: Database) -> None:
    program = (
        "import sys\nfrom tidemark.delta.retention import Claim\n"
        "from tests.delta.test_vacuum import run_vacuum\nfrom tidemark.state_store.database import Database\n"
        "from tidemark.system.table_location import table_location\n"
        "run_vacuum(table_location(sys.argv[1]), Database(sys.argv[2]), Claim(2, 'tagged'))\n"
    )
    env = {**os.environ, ENV_NAME: "vacuum.before_delete:3"}
    killed = subprocess.run(
        [sys.executable, "-c", program, str(table), str(database.url)], env=env, check=False, timeout=60
    )
    assert killed.returncode == -signal.SIGKILL
    assert len(data_files(table)) == 10 - 2
    assert (ids(table, 2), ids(table, 4)) == ([2, 2], [4, 4])
    run_vacuum(table, database, Claim(2, "tagged"))
    assert len(data_files(table)) == 4
