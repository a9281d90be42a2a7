"""A run that was given up publishes nothing: it is asked between what it wrote and the commit."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import pytest

from tests.compute.small_warehouse import small_warehouse
from tidemark.compute.run_fence import RunFences, pass_always
from tidemark.compute.runtime import Runtime
from tidemark.delta.delta_rs_table import current_version, read_partition
from tidemark.delta.replace_partition import replace_partitions
from tidemark.dependency_model.slice import Slice
from tidemark.state_store.errors import RunLostError
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tidemark.warehouse.warehouse import Warehouse

DAY = "2026-03-25"
TOTALS = Slice("totals", DAY)


def test_with_a_store_in_a_file_no_fence_is_checked(tmp_path: Path) -> None:
    assert RunFences(Settings.at(tmp_path)).of("a run") is pass_always
    assert not (tmp_path / "state.db").exists()


class GivenUp:
    """A fence that is closed once somebody else has the slice."""

    def __init__(self) -> None:
        self.is_lost = False

    def __call__(self) -> None:
        if self.is_lost:
            raise RunLostError.of("late", "a")


def sold(spark: SparkSession, warehouse: Warehouse, amount: int) -> None:
    rows = spark.createDataFrame([(1, amount, "cn")], "id INT, amount INT, region STRING")
    replace_partitions([({"dt": date.fromisoformat(DAY)}, rows)], warehouse.table_path("sales"))


def amounts(warehouse: Warehouse) -> list[int]:
    rows = read_partition(warehouse.table_path("totals"), {"dt": date.fromisoformat(DAY)})
    return [row["amount"] for row in rows.to_pylist()]


@pytest.mark.spark
def test_a_late_run_does_not_replace_the_result_of_its_successor(spark: SparkSession, tmp_path: Path) -> None:
    warehouse = small_warehouse(tmp_path)
    path, fence = warehouse.table_path("totals"), GivenUp()
    sold(spark, warehouse, 7)
    late = Runtime(warehouse).computer()
    late.compute([TOTALS], fence=fence)
    sold(spark, warehouse, 8)
    Runtime(warehouse).computer().compute([TOTALS])
    version, fence.is_lost = current_version(path), True
    with pytest.raises(RunLostError, match="the run was given up"):
        late.compute([TOTALS], fence=fence)
    assert (amounts(warehouse), current_version(path)) == ([8], version)


@pytest.mark.spark
def test_a_late_run_does_not_replace_a_first_commit(spark: SparkSession, tmp_path: Path) -> None:
    warehouse, fence = small_warehouse(tmp_path), GivenUp()
    sold(spark, warehouse, 7)
    fence.is_lost = True
    with pytest.raises(RunLostError):
        Runtime(warehouse).computer().compute([TOTALS], fence=fence)
    assert current_version(warehouse.table_path("totals")) is None


class OvertakenAfterTheQuestion(GivenUp):
    """The run is asked, and is given up right after it: another one publishes before its commit."""

    def __init__(self, warehouse: Warehouse) -> None:
        super().__init__()
        self._warehouse = warehouse

    def __call__(self) -> None:
        super().__call__()
        if not self.is_lost:
            self.is_lost = True
            Runtime(self._warehouse).computer().compute([TOTALS])


@pytest.mark.spark
@pytest.mark.long
def test_a_run_that_is_overtaken_between_the_question_and_its_commit(spark: SparkSession, tmp_path: Path) -> None:
    warehouse = small_warehouse(tmp_path)
    sold(spark, warehouse, 7)
    Runtime(warehouse).computer().compute([TOTALS])
    version = current_version(warehouse.table_path("totals")) or 0
    with pytest.raises(RunLostError):
        Runtime(warehouse).computer().compute([TOTALS], fence=OvertakenAfterTheQuestion(warehouse))
    assert current_version(warehouse.table_path("totals")) == version + 1
