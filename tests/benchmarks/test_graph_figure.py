"""The graph figure, small: every number is there, and the limits that do not depend on the machine hold."""

from __future__ import annotations

import json

import pytest

from benchmarks.__main__ import figures, main


def test_the_figure_is_found_by_name() -> None:
    assert "graph" in figures()


@pytest.mark.long
def test_a_small_graph_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    main(["graph", "--json", "--scale", "0.01"])
    figure = json.loads(capsys.readouterr().out)
    assert (figure["entities"], figure["edges"]) == (800, 1200)
    for name in ("load_seconds", "rss_mb", "expand_us_p99", "inverse_us_p99"):
        assert figure[name] > 0
    assert figure["rss_mb"] < 200
