"""The figure of the catalog: nothing that did not change is read again, and what changed is found."""

from __future__ import annotations

from argparse import Namespace

import pytest

from benchmarks import catalog


@pytest.mark.long
def test_unchanged_tables_are_not_read_again() -> None:
    figure = catalog.measure(Namespace(scale=0.001))
    assert (figure["slices"], figure["second_commits"]) == (100, 0)
    assert (figure["changed_commits"], figure["absent"]) == (20, 20)
    assert figure["counted_page_ms"] > 0
