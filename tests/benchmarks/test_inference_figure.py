"""The inference figure, small: every number is there, and what was analysed is not analysed again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from benchmarks.__main__ import main
from benchmarks.inference import load, write

if TYPE_CHECKING:
    from pathlib import Path


def test_wide_windows_are_decided(tmp_path: Path) -> None:
    write(tmp_path / "declared", 24, is_wide=True)
    (tmp_path / "data").mkdir()
    assert load(tmp_path / "declared", tmp_path / "data")["decided"] == 14


@pytest.mark.long
def test_a_small_folder_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    main(["inference", "--json", "--scale", "0.02"])
    figure = json.loads(capsys.readouterr().out)
    assert (figure["entities"], figure["decided"]) == (40, 30)
    assert figure["warm_seconds"] < figure["cold_seconds"] / 2
    assert 0 < figure["main_job_warm_seconds"] < figure["main_job_cold_seconds"]
    assert figure["definitions_seconds"] > 0
