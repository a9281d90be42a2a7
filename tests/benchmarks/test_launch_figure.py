"""The launch figure at a small size: everything it says is there, and every run succeeds on a warm worker."""

from __future__ import annotations

import pytest

from benchmarks.launch.row import Row, measure_row

pytestmark = [pytest.mark.components, pytest.mark.long, pytest.mark.timeout(600)]


def test_every_slice_is_run_when_its_feed_is_there() -> None:
    figures = measure_row(Row(db="sqlite", rate=120.0, minutes=0.05, burst=6, workers=1))
    assert (figures["runs"], figures["failed"]) == (12, 0)
    assert 0 < figures["dagster_runs"] <= 12
    assert 0 < figures["started_ms_p50"] <= figures["started_ms_p90"] <= figures["started_ms_max"]
    assert figures["started_ms_p90"] < figures["finished_ms_p90"]
    assert figures["cpu_s_per_run"] > 0
