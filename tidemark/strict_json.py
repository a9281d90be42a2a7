"""The one encoder of JSON as RFC 8259 has it: NaN and infinity, which it lacks, are the texts that Spark writes.

What is finite costs no more than the library's own encoder.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def json_text(
    value: object,
    *,
    default: Callable[[Any], object] | None = None,
    ensure_ascii: bool = True,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """A value as JSON text; the settings are those of `json.dumps`."""

    def encode(given: object) -> str:
        return json.dumps(
            given,
            allow_nan=False,
            default=default,
            ensure_ascii=ensure_ascii,
            separators=separators,
            sort_keys=sort_keys,
        )

    try:
        return encode(value)
    except ValueError:
        return encode(_finite(value))


def _finite(value: object) -> object:
    """The value, with texts for the numbers that JSON does not have."""
    if isinstance(value, float):
        return float_text(value)
    if isinstance(value, dict):
        return {_finite(key): _finite(member) for key, member in value.items()}
    return [_finite(member) for member in value] if isinstance(value, (list, tuple)) else value


def float_text(value: float) -> float | str:
    """A finite number; the name of one that is not: `NaN`, `Infinity`, `-Infinity`."""
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
