"""Drawings fit into what Dagster renders without a button, whatever is drawn."""

from __future__ import annotations

from urllib.parse import unquote
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemark.dagster.metadata.ads_slice_chart import SHOWN_AT_ONCE, Series, bars, lines

VALUES = st.lists(st.floats(-1e9, 1e9), max_size=120)
NAMES = st.text("abcdefghijklmnopqrstuvwxyz_<&'\"é", min_size=1, max_size=40)


def shapes(markdown: str) -> list[str]:
    """Tags of a drawing, which has to be well-formed and without what ends Markdown's link."""
    title, _, uri = markdown.partition("](data:image/svg+xml,")
    assert title.startswith("![")
    assert uri.endswith(")")
    assert not set(uri[:-1]) & set(" ()<>\"'#") - {"'"}
    return [element.tag.rpartition("}")[2] for element in ET.fromstring(unquote(uri[:-1]))]  # noqa: S314 - likewise


@given(st.lists(st.tuples(NAMES, VALUES), max_size=4), NAMES)
def test_lines_fit_and_are_well_formed(series: list[tuple[str, list[float]]], title: str) -> None:
    drawn = lines(title, "2026-03-23", [Series(name, values) for name, values in series])
    assert len(drawn) <= SHOWN_AT_ONCE
    assert shapes(drawn)[0] == "text"


@given(NAMES, VALUES)
def test_bars_fit_and_are_well_formed(name: str, values: list[float]) -> None:
    drawn = bars("ads_gmv 2026-03-23", "course_id", Series(name, values))
    assert len(drawn) <= SHOWN_AT_ONCE
    assert shapes(drawn)[0] == "text"


def test_the_newest_points_are_kept_and_said() -> None:
    drawn = unquote(lines("x", "2026-01-01", [Series("gmv", [float(value) for value in range(900)])]))
    assert "gmv 899</tspan> (" in drawn
    assert " slices)" in drawn
    assert (
        unquote(lines("x", "2026-03-23", [Series("gmv", [1.0, 2.5])])).count("gmv 2.50</tspan> (since 2026-03-23)") == 1
    )


@pytest.mark.parametrize("values", [[], [0.0], [-3.0, 0.0]])
def test_a_chart_without_positive_values_is_not_an_error(values: list[float]) -> None:
    assert shapes(bars("x", "key", Series("gmv", values)))
    assert shapes(lines("x", "then", [Series("gmv", values)]))
