"""The clustering figure: its parts on small inputs, and the whole, small, in a process of its own."""

import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from benchmarks.cluster.filters import Filter, random_filters, read_by
from benchmarks.cluster.tasks import Tasks, makespan


def test_makespan_is_that_of_the_slot_that_is_free_first() -> None:
    assert makespan([3.0, 1.0, 1.0, 2.0], 2) == 4.0
    assert makespan([1.0] * 64, 32) == 2.0
    assert Tasks(((1.0, 1.0), (9.0, 1.0, 2.0))).longest_to_mean == 9 / 4


def test_filters_are_spread_over_kinds_and_columns() -> None:
    values = {"key1": pa.array(range(100)), "key2": pa.array(range(50))}
    filters = random_filters(values, 200, 1)
    assert {filter_.kind for filter_ in filters} == {"point key1", "range key1", "point key2", "range key2", "box"}
    assert all(
        low.as_py() == high.as_py()
        for filter_ in filters
        if "point" in filter_.kind
        for low, high in filter_.bounds.values()
    )
    assert filters == random_filters(values, 200, 1) != random_filters(values, 200, 2)


def test_files_are_counted_by_their_bounds(tmp_path: Path) -> None:
    for first in (0, 10, 20):
        write_deltalake(str(tmp_path / "t"), pa.table({"key1": [first, first + 9]}), mode="append")
    counts = [
        read_by(tmp_path / "t", [Filter("range key1", {"key1": (pa.scalar(low), pa.scalar(high))})])[0][0]
        for low, high in ((5, 5), (9, 10), (0, 29), (40, 50))
    ]
    assert counts == [1, 2, 3, 0]


@pytest.mark.long
@pytest.mark.spark
def test_a_small_table_is_measured() -> None:
    options = ["--json", "--scale", "0.005", "--rounds", "1", "--files", "6", "--dataset", "uniform"]
    command = [sys.executable, "-m", "benchmarks", "cluster", *options]
    figures = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    figure = figures["datasets"]["uniform"]
    assert {"build_cpu_ratio", "build_wall_ratio", "makespan_ratio"} <= set(figure)
    assert figure["files_ratio_zorder"] > 0.7
    assert figure["detail"]["ours"]["files"] >= 5
