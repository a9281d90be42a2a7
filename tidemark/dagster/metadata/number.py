"""A number on a page of the Dagster UI, which cannot draw one that is infinite: GraphQL has none."""

from __future__ import annotations

import dagster as dg

from tidemark.strict_json import float_text


def as_number(value: float) -> dg.FloatMetadataValue | dg.TextMetadataValue:
    """The number, to be plotted; a text for one that is infinite or none."""
    told = float_text(value)
    return dg.TextMetadataValue(told) if isinstance(told, str) else dg.FloatMetadataValue(told)
