"""The rows of a partition without Spark are Spark's own, whatever features a stranger switched on for the table."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pytest

from tidemark.delta.delta_rs_table import read_partition, read_rows, read_table
from tidemark.delta.errors import TableFeatureError
from tidemark.delta.open_table import open_table
from tidemark.delta.partition_predicate import partition_predicate
from tidemark.quoting.spark import path_table
from tidemark.storage.stored_files import stored_files

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tidemark.delta.delta_rs_table import Partition
    from tidemark.system.table_location import TableLocation

pytestmark = pytest.mark.spark

SPECIAL: Final = "ü%3A/'=x \\"
HIDDEN: Final = "'delta.enableDeletionVectors' = 'true'"
MAPPED: Final = "'delta.columnMapping.mode' = 'name'"
BY_ID: Final = "'delta.columnMapping.mode' = 'id'"
FEATURES: Final = {
    "plain": "",
    "hidden": HIDDEN,
    "mapped": MAPPED,
    "by_id": BY_ID,
    "both": f"{HIDDEN}, {MAPPED}",
    "of_new_protocol": f"{MAPPED}, 'delta.feature.timestampNtz' = 'supported'",
    "v2": "'delta.checkpointPolicy' = 'v2'",
}
COLUMNS: Final = (
    "id BIGINT NOT NULL, v STRING, st STRUCT<inner: BIGINT, texts: ARRAY<STRING>>, "
    "nested MAP<STRING, STRUCT<v: BIGINT>>, gone BIGINT, bytes BINARY, "
    "exact DECIMAL(20, 4), day DATE, at TIMESTAMP, dt DATE, n INT, part STRING"
)
ROWS: Final = r"""
    SELECT id, CASE WHEN id % 5 > 0 THEN concat('v', id) END, named_struct('inner', id, 'texts', array('a', NULL)),
           map('k', named_struct('v', id)), id, CAST(CAST(id AS string) AS binary), id / 3, DATE'1582-10-04',
           timestamp_micros(id * 1000001), CASE id % 3 WHEN 0 THEN DATE'2026-03-23' WHEN 1 THEN DATE'2026-03-24' END,
           CAST(id % 2 AS int), CASE id % 4 WHEN 0 THEN "ü%3A/'=x \\" WHEN 1 THEN 'plain' WHEN 2 THEN 'a b' END
    FROM range(120)
"""
MONDAY: Final = {"dt": date(2026, 3, 23)}
PARTITIONS: Final[tuple[Partition, ...]] = (
    {},
    {"dt": date(2026, 3, 23)},
    {"dt": date(2026, 3, 24), "part": SPECIAL},
    {"dt": date(2026, 3, 24), "n": 0, "part": "a b"},
    {"part": "plain"},
    {"n": 1},
    {"dt": date(2026, 3, 25)},
    {"part": "null"},
)


def changed_table(spark: SparkSession, path: TableLocation, properties: str, partitioned: str) -> None:
    """Rows that were deleted and updated, and columns that were renamed, dropped and added."""
    table = path_table(path)
    features = f" TBLPROPERTIES ({properties})" if properties else ""
    spark.sql(f"CREATE TABLE {table} ({COLUMNS}) USING delta {partitioned}{features}")
    spark.sql(ROWS).repartitionByRange(2, "id").createOrReplaceTempView("rows_to_add")
    spark.sql(f"INSERT INTO {table} SELECT * FROM rows_to_add")  # noqa: S608
    if "columnMapping" in properties:
        for change in (
            "RENAME COLUMN v TO `new x`",
            "RENAME COLUMN st.inner TO outer",
            "DROP COLUMN gone",
            "ADD COLUMN v STRING",
        ):
            spark.sql(f"ALTER TABLE {table} {change}")
    spark.sql(f"DELETE FROM {table} WHERE id IN (3, 4, 5, 17, 100, 101)")  # noqa: S608
    spark.sql(f"UPDATE {table} SET day = DATE'0001-01-01' WHERE id = 40")  # noqa: S608


def by_spark(spark: SparkSession, path: TableLocation, partition: Partition) -> list[dict[str, Any]]:
    rows = read_table(spark, path).where(partition_predicate(partition)).drop(*partition)
    return in_order(rows.toArrow())


def in_order(rows: pa.Table) -> list[dict[str, Any]]:
    return sorted(rows.to_pylist(), key=lambda row: int(row["id"]))


ALSO: Final = pytest.mark.long
"""Of further combinations: each takes a table of its own."""


@pytest.mark.parametrize("partitioned", [pytest.param("", marks=ALSO), "PARTITIONED BY (dt, n, part)"])
@pytest.mark.parametrize("features", [name if name == "both" else pytest.param(name, marks=ALSO) for name in FEATURES])
def test_rows_are_sparks(spark: SparkSession, lake: TableLocation, features: str, partitioned: str) -> None:
    changed_table(spark, lake, FEATURES[features], partitioned)
    columns = pa.schema(open_table(lake).schema().to_arrow())
    for partition in PARTITIONS:
        rows = read_partition(lake, partition)
        assert in_order(rows) == by_spark(spark, lake, partition)
        assert rows.schema == pa.schema([field for field in columns if field.name not in partition])
    assert in_order(read_rows(lake)) == by_spark(spark, lake, {})
    assert read_partition(lake, {}).num_rows == 114


@pytest.mark.long
def test_a_partition_column_that_was_renamed(spark: SparkSession, lake: TableLocation) -> None:
    changed_table(spark, lake, f"{HIDDEN}, {MAPPED}", "PARTITIONED BY (dt, n, part)")
    spark.sql(f'ALTER TABLE {path_table(lake)} RENAME COLUMN part TO `a "part"`')
    partition: Partition = {'a "part"': SPECIAL, "dt": date(2026, 3, 23)}
    assert in_order(read_partition(lake, partition)) == by_spark(spark, lake, partition) != []


@ALSO
@pytest.mark.parametrize("features", ["plain", "hidden", "both"])
def test_files_of_other_partitions_are_not_read(spark: SparkSession, lake: TableLocation, features: str) -> None:
    changed_table(spark, lake, FEATURES[features], "PARTITIONED BY (dt, n, part)")
    partition: Partition = {"dt": date(2026, 3, 24), "n": 1, "part": SPECIAL}
    assert read_partition(lake, partition).num_rows == 0
    partition = {"dt": date(2026, 3, 24), "n": 0, "part": SPECIAL}
    expected = by_spark(spark, lake, partition)
    own = {str(name) for name in read_table(spark, lake).where(partition_predicate(partition)).inputFiles()}
    store = stored_files(lake)
    others = [name for name in store.names() if name.endswith(".parquet") and name.rpartition("/")[2] not in last(own)]
    store.delete(name for name in others if not name.startswith("_delta_log"))
    assert in_order(read_partition(lake, partition)) == expected != []


def last(uris: set[str]) -> set[str]:
    return {uri.rpartition("/")[2] for uri in uris}


def test_a_table_that_is_renamed_after_its_files_were_written(spark: SparkSession, lake: TableLocation) -> None:
    """Its protocol is of the kind without features, in which delta-rs's pyarrow reader sees no mapping."""
    table = path_table(lake)
    spark.sql(f"CREATE TABLE {table} (id BIGINT, v STRING, dt DATE) USING delta PARTITIONED BY (dt)")
    spark.sql(f"INSERT INTO {table} VALUES (1, 'a', DATE'2026-03-23'), (2, 'b', DATE'2026-03-24')")  # noqa: S608
    legacy = "'delta.minReaderVersion' = '2', 'delta.minWriterVersion' = '5'"
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ({MAPPED}, {legacy})")
    spark.sql(f"ALTER TABLE {table} RENAME COLUMN v TO w")
    assert open_table(lake).protocol().reader_features is None
    assert read_partition(lake, {"dt": date(2026, 3, 24)}).to_pylist() == [{"id": 2, "w": "b"}]


@pytest.mark.long
def test_vectors_that_were_switched_off_again_hide_rows(spark: SparkSession, lake: TableLocation) -> None:
    changed_table(spark, lake, HIDDEN, "PARTITIONED BY (dt, n, part)")
    table = path_table(lake)
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'false')")
    assert in_order(read_partition(lake, {"n": 1})) == by_spark(spark, lake, {"n": 1})
    spark.sql(f"REORG TABLE {table} APPLY (PURGE)")
    assert in_order(read_partition(lake, {"n": 1})) == by_spark(spark, lake, {"n": 1})


@pytest.mark.long
@pytest.mark.parametrize(
    ("features", "stored"),
    [
        ("plain", "INT96"),
        ("both", "TIMESTAMP_MICROS"),
        pytest.param("plain", "TIMESTAMP_MICROS", marks=ALSO),
        pytest.param("both", "INT96", marks=ALSO),
    ],
)
def test_times_of_all_years(spark: SparkSession, lake: TableLocation, features: str, stored: str) -> None:
    session, table = spark.newSession(), path_table(lake)
    session.conf.set("spark.sql.parquet.outputTimestampType", stored)
    properties = f"TBLPROPERTIES ({FEATURES[features]})" if FEATURES[features] else ""
    columns = "id INT, at TIMESTAMP, inside STRUCT<at: ARRAY<TIMESTAMP>>"
    session.sql(f"CREATE TABLE {table} ({columns}, dt DATE) USING delta PARTITIONED BY (dt) {properties}")
    for number, at in enumerate(("0001-01-01 00:00:00", "9999-12-31 23:59:59.999999", "2026-03-29 01:02:03.000001")):
        time = f"TIMESTAMP'{at}'"
        row = f"{number}, {time}, named_struct('at', array({time}, NULL)), DATE'2026-03-23'"
        session.sql(f"INSERT INTO {table} SELECT {row}")
    expected = by_spark(session, lake, MONDAY)
    assert [row["at"].year for row in expected] == [1, 9999, 2026]
    assert in_order(read_partition(lake, MONDAY)) == expected
    assert in_order(read_rows(lake).drop_columns("dt")) == expected


def test_an_unsupported_feature_is_an_error(spark: SparkSession, lake: TableLocation) -> None:
    table = path_table(lake)
    spark.sql(
        f"CREATE TABLE {table} (id INT, dt DATE) USING delta PARTITIONED BY (dt) "
        "TBLPROPERTIES ('delta.enableTypeWidening' = 'true', 'delta.enableDeletionVectors' = 'true')"
    )
    spark.sql(f"INSERT INTO {table} VALUES (1, DATE'2026-03-23')")  # noqa: S608
    spark.sql(f"ALTER TABLE {table} ALTER COLUMN id TYPE BIGINT")
    told = r"expected .*deletionVectors.* found typeWidening - .*DROP FEATURE"
    with pytest.raises(TableFeatureError, match=told) as refused:
        read_partition(lake, {"dt": date(2026, 3, 23)})
    assert refused.value.where == str(lake)
    with pytest.raises(TableFeatureError, match=told):
        read_rows(lake)
