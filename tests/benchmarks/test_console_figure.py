"""The figure of the console's pages: what is measured is what the pages show."""

from __future__ import annotations

from argparse import Namespace

import pytest

from benchmarks import console


@pytest.mark.components
@pytest.mark.long
def test_the_pages_show_the_whole_graph() -> None:
    figure = console.measure(Namespace(scale=0.005))
    assert (figure["nodes"], figure["matrix_columns"]) == (400, 31)
    assert 0 < figure["matrix_rows"] <= 100
    assert 0 < figure["edges"] <= 600
    assert figure["graph_all_s"] > 0
    assert figure["bundle_kb"] < 500
