"""Our own writes, repair, clustering and vacuum are not foreign; statements of another Spark are."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING, Final

import pytest

from tests.catalog.lake import DAYS, NOW, Lake
from tidemark.delta.clustering.cluster_table import Clustering, cluster_table
from tidemark.delta.internals.transaction import OptimisticTransaction
from tidemark.delta.missing_files import readable_versions
from tidemark.delta.repair import repair_partition
from tidemark.delta.repair_plan import plan_repair
from tidemark.delta.replace_partition import replace_partition
from tidemark.delta.retention import Retention
from tidemark.delta.vacuum import vacuum
from tidemark.quoting.spark import path_table
from tidemark.state_store.database import Database
from tidemark.state_store.snapshot_registry import SnapshotRegistry, TaggedSnapshot

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("catalog")]

FIRST, SECOND, THIRD = DAYS
CAPTURED: Final = "kind: Snapshot\nperiod: day\nsource: {table: school.orders, instances: [a]}\nkey: [id]\n"
EVERYTHING: Final = Retention(versions=1, age=timedelta(0))


@pytest.fixture(scope="module")
def session(spark: SparkSession) -> SparkSession:
    own = spark.newSession()
    own.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    own.conf.set("spark.sql.sources.parallelPartitionDiscovery.parallelism", "4")
    return own


def write(lake: Lake, session: SparkSession, day: str, amounts: Iterable[int]) -> int:
    """As a run of ours does."""
    rows = session.createDataFrame([(amount,) for amount in amounts], "amount BIGINT")
    replaced = replace_partition(rows, lake.path, {"dt": date.fromisoformat(day)})
    lake.tell(day, replaced.version, replaced.metrics[0].rows)
    return replaced.version


@pytest.mark.long
def test_ours_and_foreign(tmp_path: Path, session: SparkSession) -> None:
    lake, database = Lake(tmp_path / "lake"), Database.at(tmp_path / "state.db")
    first = write(lake, session, FIRST, [1, 2])
    write(lake, session, SECOND, [3])
    write(lake, session, FIRST, range(100))
    lake.poll()

    cluster_table(session, lake.path, Clustering.by("amount"))
    session.sql(f"OPTIMIZE {path_table(lake.path)}")
    partition = {"dt": date.fromisoformat(FIRST)}
    repair_partition(session, plan_repair(session, lake.path, partition, first), database)
    vacuum(lake.path, EVERYTHING, [], database, NOW)
    report = lake.poll(verify=True)
    assert (report.absent, report.foreign, report.recovered) == (0, 0, 0)
    assert lake.catalog.page("sales").entry.rows == 3

    ours = lake.version
    session.sql(f"INSERT INTO {path_table(lake.path)} VALUES (9, DATE'{SECOND}')")  # noqa: S608 - a table of the test
    session.sql(f"DELETE FROM {path_table(lake.path)} WHERE dt = DATE'{FIRST}'")  # noqa: S608 - the same
    report = lake.poll()
    assert (report.absent, report.foreign) == (1, 1)
    assert (lake.shown(f"sales@{FIRST}"), lake.shown(f"sales@{SECOND}")) == ("absent", "foreign")
    session.sql(f"RESTORE {path_table(lake.path)} TO VERSION AS OF {ours}")
    assert lake.poll().recovered == 2


def test_a_transaction_of_ours_says_so(tmp_path: Path, session: SparkSession) -> None:
    lake = Lake(tmp_path)
    write(lake, session, FIRST, [1])
    write(lake, session, FIRST, [2])
    assert OptimisticTransaction(session, lake.path).version == 1
    for version in (0, 1):
        (info,) = [action["commitInfo"] for action in lake.log_of(version) if "commitInfo" in action]
        assert '"write"' in str(info["userMetadata"])  # type: ignore[index]


@pytest.mark.long
def test_versions_whose_files_another_sparks_vacuum_took_cannot_be_read(tmp_path: Path, session: SparkSession) -> None:
    lake = Lake(tmp_path)
    first = write(lake, session, FIRST, [1, 2])
    newest = write(lake, session, FIRST, [3])
    assert readable_versions(lake.path).why_not(first) == ""
    session.sql(f"VACUUM {path_table(lake.path)} RETAIN 0 HOURS")
    readable = readable_versions(lake.path)
    assert readable.why_not(first) == f"1 files of version {first} are gone"
    assert readable.why_not(newest) == ""


@pytest.mark.long
def test_a_vacuum_of_another_spark_makes_tagged_snapshots_absent(tmp_path: Path, session: SparkSession) -> None:
    lake = Lake(tmp_path, {"orders": (CAPTURED, "")})
    path, registry = lake.warehouse.table_path("orders"), SnapshotRegistry(lake.store.database)
    for number, day in enumerate(DAYS[:2]):
        mode = "overwrite" if number else "error"
        session.range(number, number + 2).write.format("delta").mode(mode).save(str(path))
        registry.tag([TaggedSnapshot("orders", "day", day, number, 2, NOW)])
        lake.tell(day, number, 2, entity="orders")
    assert lake.poll().absent == 0
    session.sql(f"VACUUM {path_table(path)} RETAIN 0 HOURS")
    report = lake.poll()
    assert (report.absent, lake.shown(f"orders@{FIRST}"), lake.shown(f"orders@{SECOND}")) == (1, "absent", "completed")
