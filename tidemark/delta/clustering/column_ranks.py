"""Values of a column as integers in Spark's order, so that later steps need no types.

A sample's distinct values, sorted, have the positions 2, 4, 6, ... NULL, which Spark sorts first, has 0, and NaN is the
greatest value. Odd positions are the gaps between. A bound at an even position means `>= value`, at the next odd one `>
value`. So a frequent value can be separated from values that the sample does not have.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Positions = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class ColumnRanks:
    """A column's distinct values in a sample: sorted ascending, without NULL, NaN last."""

    name: str
    values: pa.Array

    def positions(self, column: pa.Array | pa.ChunkedArray) -> Positions:
        """The position of each value of a column of that type: even for values of the sample, else odd."""
        distinct, index = _distinct(column)
        if len(self.values) == 0:
            here = np.ones(len(distinct), dtype=np.int64)
        else:
            at = _search_sorted(self.values, distinct)
            padded = pa.concat_arrays([self.values, self.values[-1:]])
            is_there = _equal(padded.take(pa.array(at)), distinct)
            here = np.where(is_there & (at < len(self.values)), 2 * at + 2, 2 * at + 1)
        return np.append(here, 0)[index]

    def value_of(self, bound: int) -> pa.Scalar | None:
        """The value that a bound compares with; None for the bound that separates NULL from all values."""
        return None if bound <= 1 else self.values[(bound - 2) // 2]


def rank_column(name: str, column: pa.Array | pa.ChunkedArray) -> tuple[ColumnRanks, Positions]:
    """A sample's column as a key, and its rows' positions (all even)."""
    values, index = _distinct(column)
    return ColumnRanks(name, values), np.append(np.arange(1, len(values) + 1) * 2, 0)[index]


def _distinct(column: pa.Array | pa.ChunkedArray) -> tuple[pa.Array, Positions]:
    """(sorted distinct values, index of each row's value; -1 for NULL)."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if pa.types.is_floating(array.type):
        array = pc.add(array, pa.scalar(0.0, array.type))  # -0.0 becomes 0.0
    encoded = array.dictionary_encode()
    order = pc.array_sort_indices(encoded.dictionary)
    rank = np.empty(len(order) + 1, dtype=np.int64)
    rank[order.to_numpy()] = np.arange(len(order))
    rank[-1] = -1
    indices = pc.fill_null(encoded.indices, len(order)).to_numpy(zero_copy_only=False)
    return encoded.dictionary.take(order), rank[indices]


def _search_sorted(values: pa.Array, wanted: pa.Array) -> Positions:
    """For each of `wanted` (sorted, distinct), the number of `values` (sorted, distinct) below it."""
    together = pa.concat_arrays([wanted, values])
    is_value = np.concatenate([np.zeros(len(wanted), dtype=bool), np.ones(len(values), dtype=bool)])
    # The sort is stable: among equals, `wanted` comes before the value, and does not count it.
    order = pc.array_sort_indices(together).to_numpy()
    before = np.cumsum(is_value[order])
    below = np.empty(len(wanted), dtype=np.int64)
    below[order[~is_value[order]]] = before[~is_value[order]]
    return below


def _equal(left: pa.Array, other: pa.Array) -> npt.NDArray[np.bool_]:
    same = pc.equal(left, other)
    if pa.types.is_floating(left.type):
        same = pc.or_(same, pc.and_(pc.is_nan(left), pc.is_nan(other)))
    return np.asarray(same.to_numpy(zero_copy_only=False), dtype=bool)
