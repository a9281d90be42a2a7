"""The figures of merges and repairs, small: every number is there, all ways make the same rows, ours does the least."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from benchmarks.__main__ import figures, main

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.spark

SMALL = ("--day-rows", "200", "--batch", "40", "--repeat", "1", "--warm", "0")


def test_the_figures_are_found_by_name() -> None:
    assert {"merge", "repair"} <= set(figures())


@pytest.mark.long
def test_small_merges_are_measured(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    tables = ("--rows", "400", "--large", "800", "--workloads", "moved_keys", "--folder", str(tmp_path))
    main(["merge", "--json", *SMALL, *tables])
    figure = json.loads(capsys.readouterr().out)
    assert (figure["small_rows"], figure["large_rows"], figure["large_files"]) == (400, 800, 40)
    for name in ("speedup_small", "speedup_large", "growth_ratio", "floor_seconds", "worst_vs_best_strategy"):
        assert figure[name] > 0
    assert figure["large_files_read"] == figure["small_files_read"] <= 3, "what a batch reads does not grow"
    assert figure["moved_keys_strategies"] == ["append", "rewrite"]


@pytest.mark.long
def test_a_small_repair_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    main(["repair", "--json", *SMALL, "--rows", "800", "--later", "2"])
    figure = json.loads(capsys.readouterr().out)
    assert figure["metadata_bytes_written"] < figure["rewrite_bytes_written"]
    assert figure["written_ratio"] > 1
