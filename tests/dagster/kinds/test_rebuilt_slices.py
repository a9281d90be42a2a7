"""Rebuilt slices in real runs: one writer for each slice, and unchanged content is recognized."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.dagster.kinds.world import RunningWarehouse, running
from tidemark.compute.content_comparison import is_same_content
from tidemark.delta.replace_partition import replace_partition
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import RunState
from tidemark.warm_runs.run_identity import RUN_TAG

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

DAY = "2026-03-23"
FILES = {
    "facts.yaml": "kind: Virtual\nperiod: day\n",
    "counted.yaml": "period: day\n",
    "counted.sql": "SELECT count(*) AS n FROM facts WHERE dt = :biz_date\n",
    "by_content.yaml": "period: day\nreprocess: if_changed\n",
    "by_content.sql": "SELECT n FROM counted WHERE dt = :biz_date\n",
}
COUNTED, BY_CONTENT = f"counted@{DAY}", f"by_content@{DAY}"


@pytest.fixture
def world(spark: SparkSession, tmp_path: Path) -> Iterator[RunningWarehouse]:
    with running(spark, tmp_path, FILES) as started:
        started.arrive(f"facts@{DAY}", [(1,)], "n INT")
        yield started


def generation(world: RunningWarehouse, text: str) -> int:
    return world.host.center.status(Slice.parse(text)).generation


@pytest.mark.long
def test_a_reader_by_content_is_computed_again_where_rows_differ(world: RunningWarehouse) -> None:
    world.run()
    world.arrive(f"facts@{DAY}", [(7,)], "n INT")  # another value, the same count
    world.run()
    assert (generation(world, COUNTED), generation(world, BY_CONTENT)) == (2, 1)
    world.arrive(f"facts@{DAY}", [(1,), (2,)], "n INT")
    world.run()
    assert (generation(world, BY_CONTENT), world.rows(BY_CONTENT)) == (2, [(2,)])


@pytest.mark.long
def test_a_run_is_refused_while_another_one_computes_the_slice(world: RunningWarehouse) -> None:
    slice_ = Slice.parse(COUNTED)
    world.host.take_in()
    first = world.instance.create_run_for_job(world.job, tags={RUN_TAG: "of the center"})
    assert world.host.center.launch([slice_], "of the center", "default") == [slice_]
    second = world.by_hand(COUNTED)
    assert not second.get_asset_materialization_events()
    assert "another run is computing the slice" in str(second.all_events)
    assert not world.has_table("counted")
    assert not first.is_finished
    world.instance.report_run_failed(first)
    assert world.by_hand(COUNTED).success
    world.host.take_in()
    assert world.host.center.status(slice_).run_state in (RunState.COMPLETED, RunState.FAILED)


@pytest.mark.long
def test_rows_are_compared_each_as_often_whatever_their_order_and_files(spark: SparkSession, tmp_path: Path) -> None:
    path, partition = tmp_path / "table", {"dt": DAY}

    def write(rows: list[tuple[int | None, str]], files: int = 1) -> int:
        frame = spark.createDataFrame(rows, "n INT, text STRING").repartition(files)
        return replace_partition(frame, path, partition).version

    first = write([(1, "a"), (None, "b"), (1, "a")])
    again = write([(None, "b"), (1, "a"), (1, "a")], files=3)
    fewer = write([(1, "a"), (None, "b")])
    wider = replace_partition(
        spark.createDataFrame([(1, "a", 2)], "n INT, text STRING, m INT"), path, partition
    ).version
    assert is_same_content(spark, path, partition, str(first), again)
    assert is_same_content(spark, path, partition, str(first), first)
    for before, now in ((str(first), fewer), (str(fewer), wider), (None, again), ("77", again), ("banana", again)):
        assert not is_same_content(spark, path, partition, before, now)
