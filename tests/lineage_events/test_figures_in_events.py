"""An event says of a profile what JSON can say."""

from __future__ import annotations

import json
from math import inf, nan
from typing import NoReturn

import dagster as dg
from openlineage.client.serde import Serde

from tidemark.dagster.metadata.profile import profile_metadata
from tidemark.dependency_model.profile.figures import ColumnFigures, SliceFigures, figures_as_data, figures_from_data
from tidemark.dependency_model.profile.slice_profile import ColumnKind
from tidemark.lineage_events.run_events import _metrics
from tidemark.strict_json import json_text

INFINITE = SliceFigures(4, {"v": ColumnFigures(ColumnKind.NUMBER, 4, 3.0, "-Infinity", "NaN", (-inf, 1.0, 2.0, nan))})


def _no_number(text: str) -> NoReturn:
    raise AssertionError(f"{text} is no JSON")


def test_quantiles_without_end_are_left_out() -> None:
    event = json.loads(Serde.to_json(_metrics(INFINITE)), parse_constant=_no_number)
    assert event["columnMetrics"]["v"]["quantiles"] == {"0.05": 1.0, "0.25": 2.0}


def test_figures_read_back_as_they_were() -> None:
    stored = json_text(figures_as_data(INFINITE))
    assert figures_from_data(json.loads(stored, parse_constant=_no_number)).columns["v"].quantiles[:3] == (-inf, 1, 2)


def test_a_page_shows_a_number_that_cannot_be_plotted_as_a_text() -> None:
    assert profile_metadata(INFINITE)["median v"] == dg.TextMetadataValue("NaN")
