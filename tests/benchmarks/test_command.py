"""`python -m benchmarks`: all figures at their smallest scale, a row of one in RESULTS.md, a child that dies."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from benchmarks import _quick, _record
from benchmarks.__main__ import figures, main
from benchmarks._child import Child, ChildEndedError

if TYPE_CHECKING:
    from pathlib import Path


def test_each_figure_has_a_small_form() -> None:
    assert set(_quick.QUICK) == set(figures())


@pytest.mark.long
def test_all_says_of_each_figure_whether_it_could_be_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(_quick.QUICK, "graph", ("--scale", "none"))
    with pytest.raises(SystemExit, match="1"):
        main(["all", "--quick", "--only", "catalog", "graph"])
    measured = _quick.measure_all(["catalog", "graph"], quick=True)
    assert (measured["catalog"]["ok"], measured["graph"]["ok"]) == (True, False)
    assert "invalid float value: 'none'" in measured["graph"]["last_lines"][-1]
    assert capsys.readouterr().out.startswith("catalog ")


def test_the_error_of_an_ended_child_has_its_last_lines(tmp_path: Path) -> None:
    log = tmp_path / "center.log"
    with log.open("wb") as output:
        process = subprocess.Popen([sys.executable, "-c", "raise SystemExit('refused')"], stderr=output)
    process.wait()
    with pytest.raises(ChildEndedError, match=r"ended with 1: center\.log\nrefused"):
        Child(process, log).require()


def test_a_record_is_a_row_of_its_figures_table() -> None:
    text = "# Measured\n\n## graph\n\nWords.\n\n## demo\n\nOther words.\n"
    row = _record.row("graph", ["--scale", "0.01"], {"seconds": 1.5, "others": {"spark": {"runs": 2}}})
    assert row.startswith("| `python -m benchmarks graph --scale 0.01` | ")
    assert row.endswith(" | seconds 1.5, others.spark.runs 2 |")
    once = _record.add_row(text, "graph", "| first |")
    twice = _record.add_row(once, "graph", "| second |")
    table = "| command | commit | day | machine | figures |\n| --- | --- | --- | --- | --- |\n"
    assert twice == text.replace("Words.\n", f"Words.\n\n{table}| first |\n| second |\n", 1)
    assert _record.add_row(text, "new", "| x |") == f"{text}\n## new\n\n{table}| x |\n"


@pytest.mark.components
@pytest.mark.long
@pytest.mark.timeout(int(_quick.LONGEST_SECONDS) + 60)
@pytest.mark.parametrize("name", sorted(_quick.QUICK))
def test_each_figure_is_measured_at_its_smallest_scale(name: str) -> None:
    measured = _quick.measure_all([name], quick=True)[name]
    assert measured["ok"], measured
