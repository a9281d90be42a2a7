"""Write, audit, publish: what a rule refuses was never the table's, whatever other writers do meanwhile (A5)."""

import random
from collections import Counter
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from delta import DeltaTable
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from tidemark.delta import partition_overwrite
from tidemark.delta.delta_rs_table import Partition, current_version, read_partition, read_table, table_exists
from tidemark.delta.partition_overwrite import Release, Replaced, WrittenRows
from tidemark.delta.replace_partition import replace_partition, replace_partitions
from tidemark.delta.retention import Retention
from tidemark.delta.vacuum import vacuum
from tidemark.quoting.spark import path_table
from tidemark.state_store.database import Database
from tidemark.storage.stored_files import stored_files
from tidemark.system.table_location import TableLocation

pytestmark = pytest.mark.spark

MONDAY, TUESDAY = {"dt": date(2026, 3, 23)}, {"dt": date(2026, 3, 24)}
DAYS: tuple[Partition, ...] = (MONDAY, TUESDAY)


def rows(spark: SparkSession, *ids: int) -> DataFrame:
    return spark.range(1).select(sf.explode(sf.array(*map(sf.lit, ids)).cast("array<bigint>")).alias("id"))


def ids(path: TableLocation, partition: Partition) -> list[int]:
    return sorted(read_partition(path, partition)["id"].to_pylist())


def no_negative(partitions: tuple[Partition, ...] = DAYS) -> Release:
    """The rule of these tests, counted in the very rows that were written."""

    def release(written: WrittenRows) -> list[bool]:
        broken = {row["dt"] for row in written.rows.where("id < 0").select("dt").collect()}
        return [part["dt"] not in broken for part in partitions]

    return release


def write(spark: SparkSession, path: TableLocation, monday: list[int], tuesday: list[int]) -> Replaced:
    return replace_partitions([(MONDAY, rows(spark, *monday)), (TUESDAY, rows(spark, *tuesday))], path, no_negative())


def test_a_refused_slice_leaves_the_table_unchanged(spark: SparkSession, lake: TableLocation) -> None:
    path = lake
    assert write(spark, path, [-1], [-2]).published == (False, False)
    assert not table_exists(path)
    first = write(spark, path, [1], [-2, 2])
    assert (first.version, first.published) == (0, (True, False))
    assert [metric.rows for metric in first.metrics] == [1, 2]
    assert (ids(path, MONDAY), ids(path, TUESDAY)) == ([1], [])
    second = write(spark, path, [-5], [6, 7])
    assert (second.version, second.published) == (1, (False, True))
    assert (ids(path, MONDAY), ids(path, TUESDAY)) == ([1], [6, 7])
    third = write(spark, path, [-8], [-9])
    assert (third.version, third.published, current_version(path)) == (1, (False, False), 1)
    assert (ids(path, MONDAY), ids(path, TUESDAY)) == ([1], [6, 7])


def test_files_of_a_refused_slice_stay_until_a_vacuum(spark: SparkSession, lake: TableLocation, tmp_path: Path) -> None:
    path = lake
    write(spark, path, [1], [2])
    refused = write(spark, path, [-5], [6])
    (aside,), nothing = refused.aside
    assert nothing == ()
    assert [row.id for row in spark.read.parquet(str(path / aside)).collect()] == [-5]
    now = datetime.now(UTC)
    for after, is_there in ((timedelta(0), True), (timedelta(days=2), False)):
        vacuum(path, Retention(1, timedelta(0)), [], Database.at(tmp_path / "state.db"), now + after)
        assert stored_files(path).exists(aside) == is_there
    assert (ids(path, MONDAY), ids(path, TUESDAY)) == ([1], [6])


def test_columns_of_a_refused_write_are_not_added(spark: SparkSession, lake: TableLocation) -> None:
    path = lake
    write(spark, path, [1], [2])
    wider = [
        (part, rows(spark, *ids_).withColumn("rate", sf.lit(1.5))) for part, ids_ in ((MONDAY, [-1]), (TUESDAY, [-3]))
    ]
    assert not any(replace_partitions(wider, path, no_negative()).published)
    assert read_table(spark, path).columns == ["id", "dt"]
    half = [(MONDAY, wider[0][1]), (TUESDAY, rows(spark, 3).withColumn("rate", sf.lit(1.5)))]
    assert replace_partitions(half, path, no_negative()).published == (False, True)
    assert {tuple(row) for row in read_table(spark, path).select("id", "rate").collect()} == {(1, None), (3, 1.5)}


def test_a_table_without_partitions_is_published_as_a_whole(spark: SparkSession, lake: TableLocation) -> None:
    path, nothing = lake, dict[str, date]()
    for number, is_good, expected in ((1, True, 1), (2, False, 1), (3, True, 3)):
        replaced = replace_partitions([(nothing, rows(spark, number))], path, lambda _, good=is_good: [good])  # type: ignore[misc]
        assert replaced.published == (is_good,)
        assert [row.id for row in read_table(spark, path).collect()] == [expected]


@pytest.mark.long
def test_columns_with_other_names_in_files(spark: SparkSession, lake: TableLocation) -> None:
    path = lake
    write(spark, path, [1], [2])
    spark.sql(
        f"ALTER TABLE {path_table(path)} SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name',"
        " 'delta.minReaderVersion' = '2', 'delta.minWriterVersion' = '5')"
    )
    spark.sql(f"ALTER TABLE {path_table(path)} RENAME COLUMN dt TO day")
    days: tuple[Partition, ...] = tuple({"day": part["dt"]} for part in DAYS)
    parts = list(zip(days, (rows(spark, -3), rows(spark, 4)), strict=True))
    replaced = replace_partitions(parts, path, lambda written: [False, written.rows.where("id = 4").count() == 1])
    assert replaced.published == (False, True)
    assert [metric.rows for metric in replaced.metrics] == [1, 1]
    assert sorted(row.id for row in read_table(spark, path).collect()) == [1, 4]


def interfere(monkeypatch: pytest.MonkeyPatch, disturb: Callable[[], object]) -> None:
    """Once, after the rules have run and before the commit."""
    waiting = [disturb]

    def at(point: str) -> None:
        if point == "delta.audited" and waiting:
            waiting.pop()()

    monkeypatch.setattr(partition_overwrite, "crash_point", at)


@pytest.mark.parametrize(
    "disturbance",
    ["same partition", *(pytest.param(what, marks=pytest.mark.long) for what in ("optimize", "append", "whole table"))],
)
def test_a_commit_in_between_costs_no_computation(
    spark: SparkSession, lake: TableLocation, monkeypatch: pytest.MonkeyPatch, disturbance: str
) -> None:
    """The frame is evaluated once, its rows are judged once, and the files that were judged are the table's."""
    path, session, judged = lake, spark.newSession(), list[list[str]]()
    write(spark, path, [1], [2])
    append = rows(session, 9).withColumn("dt", sf.lit(MONDAY["dt"]))
    append.write.format("delta").mode("append").save(str(path))
    disturbances: dict[str, Callable[[], object]] = {
        "optimize": lambda: session.sql(f"OPTIMIZE {path_table(path)}").collect(),
        "same partition": lambda: replace_partition(rows(session, 5), path, MONDAY),
        "append": lambda: append.write.format("delta").mode("append").save(str(path)),
        "whole table": lambda: DeltaTable.forPath(session, str(path)).delete(),
    }
    interfere(monkeypatch, disturbances[disturbance])

    def release(written: WrittenRows) -> list[bool]:
        judged.append(written.rows.inputFiles())
        return [True]

    replaced = replace_partitions([(MONDAY, rows(spark, 7))], path, release)
    assert (replaced.version, len(judged)) == (3, 1)
    assert ids(path, MONDAY) == [7]
    assert read_table(spark, path).where("id = 7").inputFiles() == judged[0]
    assert ids(path, TUESDAY) == ([] if disturbance == "whole table" else [2])


def test_columns_added_in_the_meantime_are_published(
    spark: SparkSession, lake: TableLocation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files that were written for a table without them fit it no more: they are written and judged again."""
    path, session, judged = lake, spark.newSession(), list[int]()
    write(spark, path, [1], [2])

    def release(written: WrittenRows) -> list[bool]:
        judged.append(written.rows.count())
        return [True]

    def conflict() -> None:
        replace_partition(rows(session, 5), path, MONDAY)
        session.sql(f"ALTER TABLE {path_table(path)} SET TBLPROPERTIES ('a' = 'b')")

    interfere(monkeypatch, conflict)
    replaced = replace_partitions([(MONDAY, rows(spark, 7))], path, release)
    assert (replaced.version, judged, ids(path, MONDAY)) == (3, [1, 1], [7])


@pytest.mark.parametrize("writes", [4, pytest.param(12, marks=pytest.mark.long)])
def test_random_writes_against_a_model(
    spark: SparkSession, lake: TableLocation, monkeypatch: pytest.MonkeyPatch, writes: int
) -> None:
    """Good and bad slices in one run, others committing in between: only what was released is there, and all of it."""
    path, chance, session = lake, random.Random(7), spark.newSession()
    days = [{"dt": date(2026, 3, day)} for day in range(23, 27)]
    model: dict[date, list[int]] = {}
    for number in range(writes):
        chosen = chance.sample(days, 1 + number % 3)
        contents = [[chance.randrange(1, 99) for _ in range(chance.randrange(1, 4))] for _ in chosen]
        good = [chance.random() < 0.6 for _ in chosen]
        written = [[*ids_, -1] if not is_good else ids_ for ids_, is_good in zip(contents, good, strict=True)]
        other = chance.choice(days)

        def disturb(part: dict[str, date] = other, number: int = number) -> None:
            replace_partition(rows(session, 1000 + number), path, part)
            model[part["dt"]] = [1000 + number]

        if table_exists(path) and chance.random() < 0.5:
            interfere(monkeypatch, disturb)
        parts = [(part, rows(spark, *ids_)) for part, ids_ in zip(chosen, written, strict=True)]
        replaced = replace_partitions(parts, path, no_negative(tuple(chosen)))
        monkeypatch.undo()
        assert replaced.published == tuple(good)
        model.update({part["dt"]: ids_ for part, ids_, let in zip(chosen, contents, good, strict=True) if let})
        if table_exists(path):
            stored = Counter((row["dt"], row["id"]) for row in read_table(spark, path).collect())
            assert stored == Counter((day, id_) for day, ids_ in model.items() for id_ in ids_)
