"""Sketches as bytes, in the format of Apache DataSketches, which Spark's own functions write.

Each has a known error. Distinct values (HyperLogLog, 2^11 registers): a standard error of 2.3 %. Quantiles (KLL, k =
128): the rank of a value is off by at most 2.1 % at 99 % confidence. Frequent values (2^6 counters): a count is off by
at most 1/18 of all values, and each value more frequent than that is included.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy as np
    from numpy.typing import NDArray

LOG_REGISTERS: Final = 11
QUANTILE_K: Final = 128
TRACKED_VALUES: Final = 48
"""Three quarters of the 2^6 counters."""
LOG_COUNTERS: Final = 6
DISTINCT_ERROR: Final = 0.023
RANK_ERROR: Final = 0.021
COUNT_ERROR: Final = 3.5 / 64


def _library() -> Any:
    import datasketches  # noqa: PLC0415 - a tenth of a second, which processes that merge no sketches need not wait

    return datasketches


class FrequentValue(NamedTuple):
    """A value as text, with its approximate number of rows."""

    value: str
    rows: int


def merge_distinct(parts: Iterable[bytes]) -> bytes:
    """The union of distinct values."""
    union = _library().hll_union(LOG_REGISTERS)
    for part in parts:
        union.update(_library().hll_sketch.deserialize(part))
    return bytes(union.get_result(_library().HLL_4).serialize_compact())


def distinct_of_few(hashes: Iterable[int]) -> bytes:
    """A sketch of hashes, signed whole numbers of 64 bits."""
    sketch = _library().hll_sketch(LOG_REGISTERS, _library().HLL_4)
    for value in hashes:
        sketch.update(value)
    return bytes(sketch.serialize_compact())


def distinct_values(sketch: bytes) -> float:
    """The approximate number of different values."""
    return float(_library().hll_sketch.deserialize(sketch).get_estimate())


def merge_quantiles(parts: Iterable[bytes]) -> bytes:
    """One sketch of all values of the parts."""
    whole = _library().kll_doubles_sketch(QUANTILE_K)
    for part in parts:
        whole.merge(_library().kll_doubles_sketch.deserialize(part))
    return bytes(whole.serialize())


def quantiles(sketch: bytes, ranks: Sequence[float]) -> tuple[float, ...]:
    """The values at these ranks (0 to 1); empty without values."""
    whole = _library().kll_doubles_sketch.deserialize(sketch)
    return () if whole.is_empty() else tuple(float(value) for value in whole.get_quantiles(list(ranks)))


class QuantileSketch:
    """Collects numbers; NaN is ignored."""

    def __init__(self) -> None:
        self._sketch = _library().kll_doubles_sketch(QUANTILE_K)

    def add(self, numbers: NDArray[np.float64]) -> None:
        """Adds numbers, repeats included."""
        self._sketch.update(numbers)

    def serialized(self) -> bytes:
        """The sketch in the format of `merge_quantiles`."""
        return bytes(self._sketch.serialize())


class FrequentSketch:
    """Collects texts, each with its rows."""

    def __init__(self) -> None:
        self._sketch = _library().frequent_strings_sketch(LOG_COUNTERS)

    def add(self, counted: Iterable[tuple[str, int]]) -> None:
        """Adds texts; the rows of a repeated text are summed."""
        for text, rows in counted:
            self._sketch.update(text, rows)

    def serialized(self) -> bytes:
        """The sketch in the format of `merge_frequent`."""
        return bytes(self._sketch.serialize())


def cumulative_shares(sketch: bytes, values: Sequence[float]) -> tuple[float, ...]:
    """The share of all values that are at most each of these ascending values. The sketch must not be empty."""
    whole = _library().kll_doubles_sketch.deserialize(sketch)
    return tuple(float(whole.get_rank(value, True)) for value in values)  # noqa: FBT003 - inclusive


def merge_frequent(parts: Iterable[bytes]) -> bytes:
    """One sketch of the frequent values of all parts."""
    whole = _library().frequent_strings_sketch(LOG_COUNTERS)
    for part in parts:
        whole.merge(_library().frequent_strings_sketch.deserialize(part))
    return bytes(whole.serialize())


def frequent_values(sketch: bytes, most: int) -> tuple[FrequentValue, ...]:
    """The most frequent values, the most frequent first; ties are sorted by text."""
    whole = _library().frequent_strings_sketch.deserialize(sketch)
    items = whole.get_frequent_items(_library().frequent_items_error_type.NO_FALSE_POSITIVES)
    ordered = sorted(
        (FrequentValue(item[0], int(item[1])) for item in items), key=lambda value: (-value.rows, value.value)
    )
    return tuple(ordered[:most])
