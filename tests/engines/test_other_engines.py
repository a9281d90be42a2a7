"""DuckDB, polars and ClickHouse, pasted what `tidemark engines` prints, give the rows that Spark gives."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pyarrow.parquet as pq
import pytest

from tests.engines.canonical_rows import canonical_rows
from tests.engines.installed_libraries import installed_libraries
from tests.engines.small_lake import DAYS, HOURS, TAG, small_lake
from tidemark.engines.engine_text import engine_text
from tidemark.engines.slice_location import slice_location, tag_location

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.long, pytest.mark.spark]

_HERE: Final = Path(__file__).parent


@pytest.fixture(scope="session")
def libraries() -> Path:
    return installed_libraries(_HERE / "requirements.txt")


@pytest.mark.parametrize("engine", ["duckdb", "polars", "clickhouse"])
def test_what_is_pasted_gives_the_rows_of_spark(
    engine: str, libraries: Path, spark: SparkSession, tmp_path: Path
) -> None:
    runtime = small_lake(tmp_path)
    locations = [slice_location(runtime, "clicks", key) for key in HOURS]
    locations += [slice_location(runtime, "ods_orders", key) for key in DAYS]
    locations.append(tag_location(runtime, "ods_orders", TAG))
    for location in locations:
        text, rows = tmp_path / "text", tmp_path / "rows.parquet"
        text.write_text(engine_text(engine, location).text, encoding="utf-8")
        environment = {**os.environ, "PYTHONPATH": str(libraries)}
        command = [sys.executable, str(_HERE / "paste.py"), engine, str(text), str(rows)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        by_spark = spark.sql(engine_text("spark", location).text.rstrip(";\n")).toArrow().to_pylist()
        assert len(by_spark) % 5 == 0
        assert canonical_rows(pq.read_table(rows).to_pylist()) == canonical_rows(by_spark), location.name
