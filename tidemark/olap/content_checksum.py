"""A checksum of a table's content: equal for the same rows in any order, from any store.

Each row is its cells in column order, each with its length before it, so that no text can look like the border of two
cells. Rows are hashed to 128 bits, and the hashes are summed modulo 2**128. The sum does not depend on the order, and
unlike XOR it does not cancel a duplicated pair of rows.
"""

from __future__ import annotations

import hashlib
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

_NULL_CELL: Final = "-"
_BITS: Final = 128


def content_checksum(data: pa.Table) -> str:
    """128 bits as 32 hexadecimal digits, over all rows and columns of `data` (stored types, see arrow_types)."""
    total = sum(_row_hash(row) for row in _row_texts(data))
    return f"{total % (1 << _BITS):0{_BITS // 4}x}"


def _row_texts(data: pa.Table) -> list[str]:
    if data.num_columns == 0:
        return [""] * data.num_rows
    cells = [_cells(column) for column in data.columns]
    rows: list[str] = pc.binary_join_element_wise(*cells, "").to_pylist()
    return rows


def _cells(column: pa.ChunkedArray) -> pa.ChunkedArray:
    text = column.cast(pa.string())
    length = pc.utf8_length(text).cast(pa.string())
    return pc.fill_null(pc.binary_join_element_wise(length, text, ":"), _NULL_CELL)


def _row_hash(row: str) -> int:
    return int.from_bytes(hashlib.blake2b(row.encode(), digest_size=_BITS // 8).digest(), "big")
