"""Numbers for Dagster's pages, which cannot show an infinite one, because GraphQL has none."""

from __future__ import annotations

import dagster as dg

from tidemark.strict_json import float_text


def as_number(value: float) -> dg.FloatMetadataValue | dg.TextMetadataValue:
    """The number for plots; a text if it is infinite or not a number."""
    told = float_text(value)
    return dg.TextMetadataValue(told) if isinstance(told, str) else dg.FloatMetadataValue(told)
