"""Files of hidden rows: the rows that Delta's deletion vectors hide, as Iceberg's positional deletes."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
from pyroaring import BitMap64

from tidemark.delta.errors import UnreadableLogError
from tidemark.delta.internals.vector_path import vector_path
from tidemark.storage.stored_files import stored_files

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.system.table_location import TableLocation

HIDDEN_ROWS_FOLDER: Final = "data"
_ID: Final = b"PARQUET:field_id"
_SCHEMA: Final = pa.schema(
    [
        pa.field("file_path", pa.string(), nullable=False, metadata={_ID: b"2147483546"}),
        pa.field("pos", pa.int64(), nullable=False, metadata={_ID: b"2147483545"}),
    ]
)
_MAGIC: Final = (1681511377).to_bytes(4, "little")
_SIZE_BYTES: Final = 4


def hidden_positions(table: TableLocation, vector: Mapping[str, Any]) -> pa.Array:
    """The positions that a vector hides (Delta protocol, "Deletion Vector Format"). Raises UnreadableLogError."""
    path = vector_path(vector)
    if path is None:
        raise UnreadableLogError.of(table, "a deletion vector is not in a file of the table's folder")
    start = int(vector["offset"]) + _SIZE_BYTES
    content = stored_files(table).read_range(path, start, int(vector["sizeInBytes"]))
    if content[: len(_MAGIC)] != _MAGIC:
        raise UnreadableLogError.of(table, f"{path} is not a portable bitmap")
    return pa.array(BitMap64.deserialize(content[len(_MAGIC) :]), pa.int64())


def put_hidden_rows(folder: TableLocation, name: str, uri: str, positions: pa.Array) -> int:
    """Write the positions of one data file; returns the bytes of the written file."""
    buffer = io.BytesIO()
    pq.write_table(pa.table([pa.array([uri] * len(positions)), positions], schema=_SCHEMA), buffer)
    stored_files(folder).put(name, buffer.getvalue())
    return len(buffer.getvalue())
