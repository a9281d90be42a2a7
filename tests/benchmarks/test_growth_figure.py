"""The growth figure on two months: what is old has gone, what failed for good has not, and a step costs the same."""

from __future__ import annotations

import argparse

import pytest

from benchmarks import growth


@pytest.mark.long
def test_the_size_of_a_store_depends_on_the_kept_rows() -> None:
    figure = growth.measure(argparse.Namespace(entities=5, days=60, history_days=10, keep_snapshots=10))
    assert figure["exhausted"] == 15
    # Of what is older than ten days each slice's last transition is left, and the failures of what is not there.
    assert figure["store_rows"] < 0.5 * figure["written_rows"]
    assert figure["step_ms_end"] < 10 * figure["step_ms_start"] + 5
    assert figure["year_mb"] > 0
    # What belongs to no tag any more has gone.
    assert figure["late_rows_year"] == figure["late_rows_kept"] > 0
    assert figure["late_files_year"] < 60
