"""Entities computed by a Python function: inputs by its parameters, as Spark's plan of a dry run has them."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import pytest

from tests.compute.analyzed_plan import tables_read
from tests.compute.small_warehouse import small_warehouse
from tidemark.compute.errors import UnreadFunctionError
from tidemark.compute.function_dry_run import empty_input
from tidemark.compute.runtime import Runtime
from tidemark.dagster.asset_bodies import refuse_unread
from tidemark.delta.delta_rs_table import read_partition
from tidemark.delta.replace_partition import replace_partitions
from tidemark.dependency_model.slice import Slice
from tidemark.errors import EntityErrors
from tidemark.system.settings import Settings
from tidemark.warehouse.warehouse import Warehouse, load_warehouse

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

FUNCTION = """
from pyspark.sql import functions as F


def compute(sales, totals, *, biz_date):
    best = totals.where(F.col("dt") == F.lit(biz_date)).groupBy().agg(F.max("amount").alias("best"))
    return sales.where(F.col("dt") < F.lit(biz_date)).groupBy().agg(F.sum("amount").alias("before")).crossJoin(best)
"""
YAML = "period: day\ndepends_on: [{entity: sales, offset: Set -1}]\n"


def with_function(folder: Path, text: str = FUNCTION, yaml: str = YAML) -> Warehouse:
    small_warehouse(folder)
    (folder / "declared" / "ads" / "best.yaml").write_text(yaml)
    (folder / "declared" / "ads" / "best.py").write_text(text)
    return load_warehouse(Settings.at(folder / "data"), folder / "declared")


def test_the_parameters_are_the_inputs_and_yaml_states_other_offsets(tmp_path: Path) -> None:
    warehouse = with_function(tmp_path)
    needs = [requirement.slices for requirement in warehouse.graph.requirements(Slice("best", "2026-03-25"))]
    assert needs == [(Slice("sales", "2026-03-24"),), (Slice("totals", "2026-03-25"),)]
    assert warehouse.files["best"][0].name == "best.py"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("def compute(sale): ...", "ads/best.py:1:13: unknown table: found sale - did you mean 'sales'?"),
        ("\ndef compute(sales, *, biz_day): ...", "ads/best.py:2:23: unknown parameter"),
        ("def compute(*tables): ...", "its parameters are the tables that it reads"),
        ("def other(sales): ...", "computed by one function"),
        ("def compute(sales)\n", "ads/best.py:1:19: this is not Python"),
    ],
)
def test_errors_have_a_line(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(EntityErrors) as caught:
        with_function(tmp_path, text)
    assert says in str(caught.value)


def test_a_run_with_an_unanalysed_function_is_refused(tmp_path: Path) -> None:
    warehouse = with_function(tmp_path)
    with pytest.raises(UnreadFunctionError, match="none for totals"):
        refuse_unread(warehouse, warehouse.entities["best"])
    stated = YAML.replace("]", ", {entity: totals, offset: Set 0}]")
    warehouse = with_function(tmp_path / "stated", yaml=stated)
    refuse_unread(warehouse, warehouse.entities["best"])
    refuse_unread(warehouse, warehouse.entities["totals"])


@pytest.mark.spark
def test_a_slice_is_computed_from_the_slices_that_it_may_read(spark: SparkSession, tmp_path: Path) -> None:
    warehouse = with_function(tmp_path)
    days = [date(2026, 3, day) for day in (23, 24, 25)]
    rows_of = [spark.createDataFrame([(1, amount, "cn")], "id INT, amount INT, region STRING") for amount in (7, 8, 9)]
    parts = [({"dt": day}, rows) for day, rows in zip(days, rows_of, strict=True)]
    replace_partitions(parts, warehouse.table_path("sales"))
    computer = Runtime(warehouse).computer()
    computer.compute([Slice("totals", "2026-03-25")])
    computer.compute([Slice("best", "2026-03-25")])
    rows = read_partition(warehouse.table_path("best"), {"dt": days[2]}).to_pylist()
    assert [(row["before"], row["best"]) for row in rows] == [(8, 9)]


@pytest.mark.spark
def test_the_plan_of_a_dry_run_reads_these_inputs(spark: SparkSession, tmp_path: Path) -> None:
    function = with_function(tmp_path).functions["best"]
    schema = spark.createDataFrame([], "amount INT, dt DATE").schema
    inputs = {name: empty_input(spark, name, schema) for name in function.tables}
    frame = function.call(inputs, {"biz_date": date(2026, 3, 25)})
    assert tables_read(frame) == tuple(sorted(function.tables))
    assert frame.count() == 1
