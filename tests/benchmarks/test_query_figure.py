"""The query figure: its filters, and the whole, small, in a process of its own."""

import json
import subprocess
import sys

import pytest

from benchmarks.query.table import KEYS, KINDS, selective_filters, sql_of


def test_filters_are_points_and_small_boxes() -> None:
    filters = selective_filters(60, 1)
    assert [filter_.kind for filter_ in filters] == list(KINDS) * 20
    for filter_ in filters:
        widths = [(high.as_py() - low.as_py()) / KEYS[name] for name, (low, high) in filter_.bounds.items()]
        assert widths == ([0.01, 0.01] if filter_.kind == "box" else [0.0])
    assert filters == selective_filters(60, 1) != selective_filters(60, 2)


def test_a_filter_in_sql() -> None:
    (point, *_) = selective_filters(1, 1)
    value = point.bounds["user_id"][0].as_py()
    assert sql_of(point) == f"user_id >= {value} AND user_id <= {value}"


@pytest.mark.long
@pytest.mark.spark
def test_a_small_table_is_measured() -> None:
    options = ["--json", "--scale", "0.01", "--rounds", "2", "--files", "64"]
    command = [sys.executable, "-m", "benchmarks", "query", *options]
    figures = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert figures["rows"] == 500_000
    assert figures["bytes_ratio"] > 6
    assert figures["bytes_ratio_worst"] > 5
    assert {"seconds_ratio_spark", "seconds_ratio_duckdb", "seconds_ratio_delta_rs"} <= set(figures)
    before, after = figures["detail"]["files_after_append"]
    assert after < before
