"""Checks the result of a probe so that every store can keep it: its texts and numbers come from another system."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tidemark.crawl.errors import ProbeError
from tidemark.system.one_line import one_line

if TYPE_CHECKING:
    from tidemark.dependency_model.arrival.sighting import Sight

_INT64: Final = range(-(1 << 63), 1 << 63)
_LONGEST: Final = 1_024


def bounded(sight: Sight) -> Sight:
    """The result with one-line texts. Raises ProbeError for an invalid version, time or number."""
    if sight.rows is not None and sight.rows not in _INT64:
        raise ProbeError("the number of rows is too large", expected="a number of 64 bits", found=str(sight.rows)[:40])
    for name, text in (("version", sight.version), ("watermark", sight.watermark)):
        if text is not None and (len(text) > _LONGEST or one_line(text, _LONGEST) != text):
            raise ProbeError(
                f"the {name} is not one line of text", expected="one line of Unicode", found=one_line(text, 100)
            )
    if not all(math.isfinite(figure) for _, figure in (*sight.figures, *sight.measured) if figure is not None):
        raise ProbeError("a figure is not a number", expected="finite numbers")
    content = sight.content.encode("utf-8", "backslashreplace").decode()
    return replace(sight, why=one_line(sight.why), content=content)
