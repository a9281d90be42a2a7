"""The rows that deletion vectors hide, by the log without Spark. The log's statistics count these rows."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidemark.delta.live_file import file_name
from tidemark.delta.rows_without_spark import unknown_features_told

if TYPE_CHECKING:
    import pyarrow as pa
    from deltalake import DeltaTable


@dataclass(frozen=True)
class HiddenRows:
    """The hidden rows of a file; `positions` is a checksum of their positions."""

    count: int
    positions: str


def hidden_rows(table: DeltaTable, where: str) -> dict[str, HiddenRows]:
    """The hidden rows of each file, by its name. `where` is the table's name in messages. Raises TableFeatureError."""
    if "deletionVectors" not in (table.protocol().reader_features or ()):
        return {}
    import pyarrow as pa  # noqa: PLC0415 - a command that looks at the log alone needs no Arrow

    with unknown_features_told(table, where):
        vectors = pa.table(table.deletion_vectors())
    named = zip(vectors["filepath"].to_pylist(), vectors["selection_vector"], strict=True)
    return {file_name(path): _hidden(vector.values) for path, vector in named}


def _hidden(shown: pa.BooleanArray) -> HiddenRows:
    import pyarrow.compute as pc  # noqa: PLC0415 - a command that looks at the log alone needs no Arrow

    hidden = pc.indices_nonzero(pc.invert(shown))
    return HiddenRows(len(hidden), hashlib.sha256(hidden.to_numpy()).hexdigest())
