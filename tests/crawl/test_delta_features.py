"""The probe of a Delta table for which its owner switched on features that change what files mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from tests.crawl.probed_rules import DAY, EXPECTED, ROWS, RULES, verdicts
from tests.crawl.source_world import look
from tidemark.delta.errors import TableFeatureError
from tidemark.quoting.spark import path_table
from tidemark.storage.stored_files import stored_files
from tidemark.system.table_location import table_location

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

HIDDEN: Final = "'delta.enableDeletionVectors' = 'true'"
MAPPED: Final = "'delta.columnMapping.mode' = 'name'"
COLUMNS: Final = "day {day}, id BIGINT, shop STRING, amount BIGINT, status STRING, at TIMESTAMP, more STRING"
SURPLUS: Final = (
    (DAY, 7, None, 200, "lost", "2026-03-29 11:00:00"),
    (DAY, 1, "a", -5, "wrong", "2026-03-29 11:00:00"),
)


def probed_table(
    spark: SparkSession, folder: Path, properties: str, by: str = "PARTITIONED BY (day)", day: str = "STRING"
) -> str:
    """The table of the rules' tests, with rows that were deleted from it, and columns that were renamed."""
    table, renamed = path_table(folder / "orders"), ("shop", "at") if MAPPED in properties else ()
    types = dict(column.split() for column in COLUMNS.format(day=day).split(", "))
    columns = ", ".join(f"{'old_' * (name in renamed)}{name} {kind}" for name, kind in types.items())
    spark.sql(f"CREATE TABLE {table} ({columns}) USING delta {by} TBLPROPERTIES ({properties})")
    texts = [tuple(value if value is None else str(value) for value in (*row, "x")) for row in (*ROWS, *SURPLUS)]
    rows = spark.createDataFrame(texts, ", ".join(f"{name} STRING" for name in types)).coalesce(1)
    rows.selectExpr(*(f"CAST({name} AS {kind})" for name, kind in types.items())).createOrReplaceTempView("to_add")
    spark.sql(f"INSERT INTO {table} SELECT * FROM to_add")  # noqa: S608
    for name in renamed:
        spark.sql(f"ALTER TABLE {table} RENAME COLUMN old_{name} TO {name}")
    spark.sql(f"DELETE FROM {table} WHERE id = 7 OR status = 'wrong'")  # noqa: S608
    return str(folder / "orders")


@pytest.mark.parametrize(
    ("features", "day"),
    [
        (f"{HIDDEN}, {MAPPED}", "STRING"),
        *(
            pytest.param(features, day, marks=pytest.mark.long)
            for features, day in (
                (HIDDEN, "DATE"),
                (f"{HIDDEN}, {MAPPED}", "DATE"),
                (HIDDEN, "STRING"),
                (MAPPED, "STRING"),
                (MAPPED, "DATE"),
            )
        ),
    ],
)
def test_rules_are_counted_among_the_rows_of_the_table(
    spark: SparkSession, tmp_path: Path, features: str, day: str
) -> None:
    table = probed_table(spark, tmp_path, features, day=day)
    probe = f"delta: {{table: '{table}', partition: {{day: '{{key}}'}}, watermark: at}}"
    sight = look(probe, DAY, more=RULES)
    assert verdicts(probe, sight) == EXPECTED
    assert (sight.is_there, sight.watermark) == (True, "2026-03-30T23:59:59+00:00")


@pytest.mark.long
def test_a_table_without_partitions_is_counted_as_a_whole(spark: SparkSession, tmp_path: Path) -> None:
    probed_table(spark, tmp_path / DAY, f"{HIDDEN}, {MAPPED}", by="")
    rules = "quality: [{not_null: [SHOP]}, {unique: [id]}]\n"
    sight = look(f"delta: {{table: '{tmp_path}/{{key}}/orders'}}", DAY, more=rules)
    assert (sight.rows, dict(sight.measured)) == (6, {"not_null": 3, "unique": 3})


def test_files_of_other_partitions_are_not_read(spark: SparkSession, tmp_path: Path) -> None:
    table = probed_table(spark, tmp_path, HIDDEN, day="DATE")
    files = stored_files(table_location(table))
    files.delete(name for name in files.names() if name.startswith("day=2026-03-30"))
    probe = f"delta: {{table: '{table}', partition: {{day: '{{key}}'}}}}"
    assert verdicts(probe, look(probe, DAY, more=RULES)) == EXPECTED


@pytest.mark.long
def test_other_rows_that_are_hidden_are_another_content(spark: SparkSession, tmp_path: Path) -> None:
    table = probed_table(spark, tmp_path, HIDDEN)
    probe = f"delta: {{table: '{table}', partition: {{day: '{{key}}'}}}}"
    seen, name = [look(probe, DAY)], path_table(tmp_path / "orders")
    spark.sql(f"DELETE FROM {name} WHERE amount = 5")  # noqa: S608
    seen.append(look(probe, DAY))
    spark.sql(f"RESTORE TABLE {name} TO VERSION AS OF 2")
    seen.append(look(probe, DAY))
    spark.sql(f"DELETE FROM {name} WHERE amount = 50")  # noqa: S608
    seen.append(look(probe, DAY))
    assert [sight.rows for sight in seen] == [5, 4, 5, 4]
    assert seen[0].content == seen[2].content
    assert len({sight.content for sight in seen}) == 3


def test_an_unsupported_feature_is_an_error_and_the_slice_is_not_ready(spark: SparkSession, tmp_path: Path) -> None:
    table = probed_table(spark, tmp_path, "'delta.enableTypeWidening' = 'true'")
    probe = f"delta: {{table: '{table}', partition: {{day: '{{key}}'}}}}"
    told = r"orders: .* found typeWidening - drop the feature"
    assert look(probe, DAY).rows == 5
    with pytest.raises(TableFeatureError, match=told):
        look(probe, DAY, more=RULES)
    spark.sql(f"ALTER TABLE {path_table(tmp_path / 'orders')} SET TBLPROPERTIES ({HIDDEN})")
    with pytest.raises(TableFeatureError, match=told):
        look(probe, DAY)
