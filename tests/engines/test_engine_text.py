"""Texts for engines that the tests have at hand: delta-rs and Spark; docs/engines.md shows what the command prints."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from hypothesis import given
from hypothesis import strategies as st

from tests.compute.small_warehouse import small_warehouse
from tests.engines.canonical_rows import canonical_rows
from tests.engines.paste import python_text
from tests.engines.small_lake import DAYS, HOURS, MONDAY, TAG, complete, small_lake
from tests.examples import examples
from tests.project import CHECKOUT
from tidemark.compute.runtime import Runtime
from tidemark.compute.snapshot_reader import Snapshots
from tidemark.delta.delta_rs_table import read_rows
from tidemark.dependency_model.slice import Slice
from tidemark.engines.engine_names import ENGINES
from tidemark.engines.engine_text import engine_text
from tidemark.engines.errors import EngineCannotReadError
from tidemark.engines.slice_location import SliceLocation, slice_location, tag_location
from tidemark.engines.slices_table import SlicesTable
from tidemark.state_store.store import StateStore
from tidemark.system.s3_access import S3Access
from tidemark.system.table_location import HdfsLocation, ObjectLocation

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PAGE: Final = CHECKOUT / "docs" / "engines.md"
_CHARACTERS: Final = st.characters(codec="utf-8", exclude_characters="\0", exclude_categories=["Cs"])
_TEXTS: Final = st.text(_CHARACTERS, min_size=1, max_size=12)
_VALUES: Final = st.lists(_TEXTS, min_size=1, max_size=3, unique=True)


def by_delta(location: SliceLocation) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = python_text(engine_text("delta", location).text).to_pylist()
    return rows


@pytest.mark.spark
def test_delta_rs_and_spark_give_the_slice_that_the_reader_gives(spark: SparkSession, tmp_path: Path) -> None:
    runtime = small_lake(tmp_path)
    snapshots = Snapshots(spark, runtime)
    for entity, keys in {"clicks": HOURS[1:], "ods_orders": DAYS}.items():
        for key in keys:
            location = slice_location(runtime, entity, key)
            pasted = spark.sql(engine_text("spark", location).text.rstrip(";\n"))
            expected = snapshots.read(entity, key).select(*pasted.columns).toArrow().to_pylist()
            assert canonical_rows(pasted.toArrow().to_pylist()) == canonical_rows(expected), key
            assert canonical_rows(by_delta(location)) == canonical_rows(expected), key


def test_a_slice_stays_what_its_run_wrote(tmp_path: Path) -> None:
    runtime = small_lake(tmp_path)
    location = slice_location(runtime, "clicks", HOURS[0])
    assert sorted(row["id"] for row in by_delta(location)) == [0, 1, 2, 3, 4]
    table = DeltaTable(str(runtime.warehouse.table_path("clicks")))
    table.vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)
    vacuumed = slice_location(runtime, "clicks", HOURS[0])
    assert (location.version, vacuumed.version) == (0, table.version())
    assert sorted(row["id"] for row in by_delta(vacuumed)) == [90, 91, 92, 93, 94]


def test_a_tag_is_all_of_its_version(tmp_path: Path) -> None:
    runtime = small_lake(tmp_path)
    assert sorted(row["id"] for row in by_delta(tag_location(runtime, "ods_orders", TAG))) == [0, 1, 2, 3, 4]
    assert len(by_delta(tag_location(runtime, "ods_orders", DAYS[1]))) == 10


def test_static_slices_and_parts_are_located(tmp_path: Path) -> None:
    parts = 'period: day\nsub_partitions: {region: [eu, "c n"]}\n'
    declared = {"cities": ("kind: Static\n", "SELECT 1 AS n\n"), "parts": (parts, "SELECT 1 AS n\n")}
    warehouse = small_warehouse(tmp_path, declared)
    write_deltalake(str(warehouse.table_path("cities")), pa.table({"n": [1]}))
    rows = pa.table({"n": [1, 2], "dt": [MONDAY] * 2, "region": ["eu", "c n"]})
    write_deltalake(str(warehouse.table_path("parts")), rows, partition_by=["dt", "region"])
    store = StateStore.of(warehouse.settings)
    complete(store, [Slice("cities", "static"), Slice("parts", "2026-03-23", (("region", "c n"),))], [0, 0])
    store.close()
    runtime = Runtime(warehouse)
    assert [row["n"] for row in by_delta(slice_location(runtime, "cities", None))] == [1]
    assert [row["n"] for row in by_delta(slice_location(runtime, "parts", "2026-03-23/region=c%20n"))] == [2]
    table = SlicesTable(warehouse, runtime.database)
    table.publish()
    assert set(read_rows(table.path)["slice"].to_pylist()) == {"static", "2026-03-23/region=c%20n"}


@examples(15)
@given(values=_VALUES, day=st.dates(date(1, 1, 1)))
def test_any_partition_is_named_exactly(values: list[str], day: date) -> None:
    with TemporaryDirectory() as folder:
        rows = [{"n": at, "dt": day, "region": value} for at, value in enumerate(values)]
        write_deltalake(folder, pa.Table.from_pylist(rows), partition_by=["dt", "region"])
        schema = DeltaTable(folder).schema()
        for at, value in enumerate(values):
            location = SliceLocation("t", "", Path(folder), 0, {"dt": day, "region": value}, schema)
            assert [row["n"] for row in by_delta(location)] == [at]


def example() -> SliceLocation:
    columns = {"course_id": pa.int64(), "orders": pa.int64(), "gmv": pa.decimal128(18, 2), "dt": pa.date32()}
    with TemporaryDirectory() as folder:
        write_deltalake(folder, pa.table({name: pa.array([], type_) for name, type_ in columns.items()}))
        schema = DeltaTable(folder).schema()
    name = "dws_course_orders_1d"
    return SliceLocation(name, "2026-03-29", Path("/data/warehouse", name), 12, {"dt": date(2026, 3, 29)}, schema)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_page_shows_what_is_printed(engine: str) -> None:
    page = _PAGE.read_text(encoding="utf-8")
    section = re.search(rf"^## .* \(`{engine}`\)\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    assert section is not None
    printed = engine_text(engine, example())
    assert re.findall(r"^```(\w+)\n(.*?)^```", section[1], re.MULTILINE | re.DOTALL)[0] == printed[::2]
    assert ("**Not tested**" in section[1]) is not printed.is_tested
    assert ("not run by" in printed.text) is not printed.is_tested


def test_each_store_is_named_as_the_engine_names_it() -> None:
    location = example()
    access = S3Access.of({"AWS_REGION": "a"}, "lake")
    stored = replace(location, table=ObjectLocation("lake", "w/t", access))
    assert '("s3://lake/w/t"' in engine_text("delta", stored).text
    assert "deltaLake('s3://lake/w/t')" in engine_text("clickhouse", stored).text
    assert "`s3a://lake/w/t`" in engine_text("spark", stored).text
    in_hdfs = replace(location, table=HdfsLocation("node:9000", "w/t"))
    assert "'hdfs://node:9000/w/t'" in engine_text("trino", in_hdfs).text
    with pytest.raises(EngineCannotReadError, match="does not read tables there"):
        engine_text("duckdb", in_hdfs)
