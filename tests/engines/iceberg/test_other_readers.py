"""PyIceberg, DuckDB and Spark with Iceberg's runtime read every version of a table of odd rows as Delta does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow.parquet as pq
import pytest

from tests.engines.canonical_rows import canonical_rows
from tests.engines.installed_libraries import installed_libraries
from tests.engines.paste import python_text
from tests.engines.small_lake import NOW
from tidemark.delta.delta_rs_table import read_table
from tidemark.delta.iceberg_metadata import IcebergMetadata
from tidemark.engines.iceberg.iceberg_table import IcebergTable
from tidemark.engines.iceberg.named_rows import NamedRows
from tidemark.engines.iceberg_text import IcebergTag, iceberg_text
from tidemark.quoting.spark import path_table, text_literal
from tidemark.spark.jars import fetch_into

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.long, pytest.mark.spark]

_HERE: Final = Path(__file__).parent
_RUNTIME: Final = "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0"
_REGIONS: Final = ("eu", "c n", "a/b", "a%b=c", "\u00fcn\u00ef\u2603", "it's", 'x"y#?&[*]', None)
_COLUMNS: Final = (
    "id BIGINT, small TINYINT, short SMALLINT, n INT, ratio FLOAT, exact DOUBLE, amount DECIMAL(18,2), "
    "large DECIMAL(38,6), at TIMESTAMP, here TIMESTAMP_NTZ, day DATE, raw BINARY, "
    "inner STRUCT<a: INT, `b-c`: STRING, deep: ARRAY<STRUCT<x: INT>>>, tags ARRAY<STRING>, "
    "counts MAP<STRING, BIGINT>, dt DATE, region STRING, bucket INT"
)
_ROW: Final = (
    "1, 2, CAST(id AS INT), 1.5, 2.5, 12.34, 12345678901234567890.123456, "
    "TIMESTAMP'2026-03-29 01:02:03.123456', TIMESTAMP_NTZ'0101-03-29 01:02:03.123456', DATE'1969-12-31', X'0102', "
    "named_struct('a', 1, 'b-c', 'z', 'deep', array(named_struct('x', 3))), array('q', NULL), map('k', 7L)"
)
_FEATURES: Final = "'delta.enableTypeWidening' = 'true', 'delta.enableDeletionVectors' = 'true'"


@pytest.fixture(scope="module")
def lake(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Every version of a table with its tag and what Spark reads: appended, deleted, widened, extended, rewritten."""
    folder = tmp_path_factory.mktemp("odd lake")
    table, metadata = folder / "odd", IcebergMetadata.of(folder, "odd")
    name = path_table(table)
    spark.sql(
        f"CREATE TABLE {name} ({_COLUMNS}) USING delta PARTITIONED BY (dt, region, bucket) TBLPROPERTIES ({_FEATURES})"
    )
    for bucket, region in enumerate(_REGIONS):
        value = "NULL" if region is None else text_literal(region)
        spark.sql(f"INSERT INTO {name} SELECT id, {_ROW}, DATE'2026-03-29', {value}, {bucket % 2} FROM range(5)")  # noqa: S608
    spark.sql(f"DELETE FROM {name} WHERE id = 3")  # noqa: S608
    spark.sql(f"ALTER TABLE {name} ADD COLUMNS (extra STRING)")
    spark.sql(f"ALTER TABLE {name} ALTER COLUMN n TYPE BIGINT")
    empty = ", ".join(["NULL"] * 14)
    spark.sql(f"INSERT INTO {name} SELECT 100, {empty}, DATE'2026-03-30', 'eu', 2, 'more'")
    spark.sql(f"OPTIMIZE {name}")
    spark.sql(f"DELETE FROM {name} WHERE dt = DATE'2026-03-29'")  # noqa: S608
    versions = sorted(row.version for row in spark.sql(f"DESCRIBE HISTORY {name}").collect())
    wanted = [NamedRows(f"v {version}", version, 1, {}, is_fixed=True) for version in versions]
    assert IcebergTable(table, metadata).keep(wanted, NOW) == len(wanted)
    newest = metadata.newest()
    assert newest is not None
    return {
        rows.name: (
            IcebergTag(metadata.location, rows.name, newest.content["refs"][rows.name]["snapshot-id"]),
            canonical_rows(read_table(spark, table, rows.version).toArrow().to_pylist()),
        )
        for rows in wanted
    }


def test_pyiceberg_reads_every_version(lake: dict[str, Any]) -> None:
    for tag, expected in lake.values():
        rows = python_text(iceberg_text("iceberg", tag).text).to_pylist()
        assert canonical_rows(rows) == expected, tag.name


def test_duckdb_reads_every_version(lake: dict[str, Any], tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(installed_libraries(_HERE.parent / "requirements.txt"))}
    for tag, expected in lake.values():
        text, rows = tmp_path / "text", tmp_path / "rows.parquet"
        text.write_text(iceberg_text("iceberg-duckdb", tag).text, encoding="utf-8")
        command = [sys.executable, str(_HERE.parent / "paste.py"), "duckdb", str(text), str(rows)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert canonical_rows(pq.read_table(rows).to_pylist()) == expected, tag.name


def test_spark_with_icebergs_runtime_reads_every_version(lake: dict[str, Any], tmp_path: Path) -> None:
    tags = [tag for tag, _ in lake.values()]
    texts = tmp_path / "texts.json"
    texts.write_text(json.dumps([iceberg_text("iceberg-spark", tag).text for tag in tags]), encoding="utf-8")
    command = [sys.executable, str(_HERE / "spark_reader.py"), str(_jar()), str(tags[0].table.parent), str(texts)]
    libraries = installed_libraries(_HERE / "spark_requirements.txt")
    done = subprocess.run(
        [*command, str(tmp_path / "rows")],
        env={**os.environ, "PYTHONPATH": str(libraries), "SPARK_HOME": str(libraries / "pyspark")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for number, (tag, expected) in enumerate(lake.values()):
        rows = pq.read_table(tmp_path / "rows" / str(number)).to_pylist()
        assert canonical_rows(rows) == expected, tag.name


def _jar() -> Path:
    folder = Path.home() / ".cache" / "tidemark" / f"jars-{_RUNTIME.replace(':', '-')}"
    if not folder.is_dir():
        fetch_into(folder, [((_RUNTIME,), ())], _HERE / "jars.sha256")
    return next(folder.glob("*.jar"))
