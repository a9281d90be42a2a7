"""Sketches of values at hand, as Spark's functions make them of a column: for simulated days and for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import datasketches
import numpy as np

from tidemark.dependency_model.profile.sketches import LOG_COUNTERS, LOG_REGISTERS, QUANTILE_K

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray


def distinct_sketch(values: Iterable[int]) -> bytes:
    """Of values that were hashed to 64 bits."""
    sketch = datasketches.hll_sketch(LOG_REGISTERS, datasketches.HLL_4)
    for value in values:
        sketch.update(value)
    return bytes(sketch.serialize_compact())


def quantile_sketch(values: Sequence[float] | NDArray[np.float64]) -> bytes:
    """Of numbers, which have no NaN."""
    sketch = datasketches.kll_doubles_sketch(QUANTILE_K)
    sketch.update(np.asarray(values, dtype=np.float64))
    return bytes(sketch.serialize())


def frequent_sketch(values: Iterable[str]) -> bytes:
    """Of texts."""
    sketch = datasketches.frequent_strings_sketch(LOG_COUNTERS)
    for value in values:
        sketch.update(value)
    return bytes(sketch.serialize())
