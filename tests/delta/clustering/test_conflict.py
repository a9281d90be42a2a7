"""Other writers between the read and the commit: what still stands is committed, the rest is read again."""

from collections.abc import Callable

import pytest
from delta import DeltaTable
from pyspark.sql import SparkSession

from tests.delta.clustering.tables import content, create_table, size_of
from tidemark.delta.clustering import rewrite
from tidemark.delta.clustering.cluster_table import Clustering, cluster_table
from tidemark.delta.clustering.content_hash import content_of
from tidemark.delta.clustering.errors import ContentChangedError
from tidemark.delta.commit_conflict import BackOff
from tidemark.delta.delta_rs_table import current_version, read_table
from tidemark.delta.errors import ColumnsDifferError, CommitConflictError
from tidemark.quoting.spark import path_table
from tidemark.system.table_location import TableLocation

pytestmark = pytest.mark.spark


def table(spark: SparkSession, path: TableLocation, **properties: str) -> tuple[TableLocation, Clustering]:
    rows = spark.range(1200).selectExpr("id", "CAST(hash(id) % 1000 AS INT) AS a", "id % 3 AS p")
    create_table(spark, path, rows, 4, "p", **properties)
    return path, Clustering.by("a", target_bytes=size_of(path) // 12)


def meanwhile(monkeypatch: pytest.MonkeyPatch, action: Callable[[], object], times: int = 1) -> None:
    """Do something once the new files are written and not yet committed."""
    left = [times]

    def at(point: str) -> None:
        if point == "cluster.written" and left[0]:
            left[0] -= 1
            action()

    monkeypatch.setattr(rewrite, "crash_point", at)


def no_pause() -> BackOff:
    return BackOff(attempts=4, sleep=lambda _: None)


def test_an_append_is_not_a_conflict(spark: SparkSession, lake: TableLocation, monkeypatch: pytest.MonkeyPatch) -> None:
    path, clustering = table(spark, lake)
    new = spark.sql("SELECT 5000L AS id, 1 AS a, 1L AS p")
    meanwhile(monkeypatch, lambda: new.write.format("delta").mode("append").save(str(path)))
    report = cluster_table(spark, path, clustering)
    assert (report.rows, report.again, len(report.versions)) == (1200, 0, 1)
    assert read_table(spark, path).count() == 1201


@pytest.mark.long
@pytest.mark.parametrize("hides", ["true", "false"])
@pytest.mark.parametrize("change", ["DELETE FROM {} WHERE id = 4", "UPDATE {} SET a = 7 WHERE id = 4"])
def test_the_rest_is_committed(
    spark: SparkSession, lake: TableLocation, monkeypatch: pytest.MonkeyPatch, change: str, hides: str
) -> None:
    path, clustering = table(spark, lake, delta_enableDeletionVectors=hides)
    meanwhile(monkeypatch, lambda: spark.sql(change.format(path_table(path))))
    report = cluster_table(spark, path, clustering, back_off=no_pause())
    changed = (current_version(path) or 0) - len(report.versions)
    assert (report.again, len(report.versions)) == (1, 2)
    assert content(spark, path) == content(spark, path, changed)
    assert read_table(spark, path).where("id = 4 AND (a IS NULL OR a <> 7)").count() == 0


@pytest.mark.long
def test_a_writer_that_never_wins_gives_up(
    spark: SparkSession, lake: TableLocation, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, clustering = table(spark, lake)
    number = iter(range(0, 300, 3))
    meanwhile(monkeypatch, lambda: DeltaTable.forPath(spark, str(path)).delete(f"id = {next(number)}"), 100)
    with pytest.raises(CommitConflictError):
        cluster_table(spark, path, clustering, where="p = 0", back_off=no_pause())


@pytest.mark.long
def test_a_changed_table_is_not_written_to(
    spark: SparkSession, lake: TableLocation, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, clustering = table(spark, lake)
    meanwhile(monkeypatch, lambda: spark.sql(f"ALTER TABLE {path_table(path)} ADD COLUMN c INT"))
    with pytest.raises(ColumnsDifferError):
        cluster_table(spark, path, clustering, back_off=no_pause())
    assert current_version(path) == 3


def test_other_content_is_not_committed(
    spark: SparkSession, lake: TableLocation, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, clustering = table(spark, lake)
    before = content(spark, path)
    monkeypatch.setattr(rewrite, "content_of", lambda rows, names: content_of(rows.where("id <> 77"), names))
    with pytest.raises(ContentChangedError):
        cluster_table(spark, path, clustering)
    assert (content(spark, path), current_version(path)) == (before, 2)
