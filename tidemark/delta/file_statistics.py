"""The log's facts about a version's files - partition, rows, bytes, bounds of keys - without a Spark job (delta-rs).

A file whose bounds exclude a key cannot hold it. So these facts show which files may hold a key.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable
from deltalake.exceptions import TableNotFoundError

from tidemark.delta.delta_rs_table import table_exists
from tidemark.delta.errors import NotADeltaTableError
from tidemark.delta.live_file import file_name
from tidemark.delta.open_table import open_table
from tidemark.strict_json import json_text
from tidemark.system.table_location import TableLocation

# Types whose text is the same in the log and here.
_PLAIN = (pa.types.is_integer, pa.types.is_string, pa.types.is_date32)
# Types with exact bounds in the log: text is cut with the upper bound rounded up. Bounds of times (rounded to
# milliseconds) and floats (NaN) are not used.
_BOUNDED = (pa.types.is_integer, pa.types.is_string, pa.types.is_large_string, pa.types.is_date)


@dataclass(frozen=True)
class FileStatistics:
    """The live files of `version`, and the table at that time. `types` are the columns' types in Delta's words.

    `column_metadata` are the metadata keys of all columns. `files` has columns path (file name), location (as in the
    log), modification_time (ms), size_bytes, num_records, partition (text of the first partition column; NULL without
    one), and if the log has them, min.<column>, max.<column> and partition.<column>.
    """

    version: int
    types: Mapping[str, str]
    partition_columns: tuple[str, ...]
    properties: Mapping[str, str]
    features: frozenset[str]
    column_metadata: frozenset[str]
    files: pa.Table

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.types)

    @property
    def has_unique_names(self) -> bool:
        """Whether file names are unique. Delta's are; a converted folder of another engine may repeat names."""
        return bool(pc.count_distinct(self.files["path"]).as_py() == self.files.num_rows)

    @property
    def size_bytes(self) -> int:
        return int(pc.sum(self.files["size_bytes"]).as_py() or 0)

    def add_actions(self, names: Collection[str]) -> list[dict[str, Any]] | None:
        """The `add` actions of some files; None if they cannot be made without the log.

        The actions have no statistics, because reading and removing a file do not need them.
        """
        values = {name: self.files[f"partition.{name}"] for name in self.partition_columns}
        has_plain_values = all(any(is_kind(value.type) for is_kind in _PLAIN) for value in values.values())
        if "deletionVectors" in self.features or not has_plain_values:
            return None
        chosen = self.files.filter(pc.is_in(self.files["path"], value_set=pa.array(names, pa.string())))
        columns = ["location", "size_bytes", "modification_time", *(f"partition.{name}" for name in values)]
        return [self._add(row) for row in chosen.select(columns).to_pylist()]

    def _add(self, row: Mapping[str, Any]) -> dict[str, Any]:
        partition = {name: row[f"partition.{name}"] for name in self.partition_columns}
        return {
            "path": row["location"],
            "partitionValues": {name: None if value is None else str(value) for name, value in partition.items()},
            "size": row["size_bytes"],
            "modificationTime": row["modification_time"],
        }

    def partition_of(self) -> dict[str, str | None]:
        """File name -> partition value as text."""
        return dict(zip(self.files["path"].to_pylist(), self.files["partition"].to_pylist(), strict=True))

    def size_of(self) -> dict[str, tuple[int, int]]:
        """File name -> (bytes, rows). Rows that a deletion vector hides count too."""
        return {
            row["path"]: (row["size_bytes"], row["num_records"] or 0)
            for row in self.files.select(["path", "size_bytes", "num_records"]).to_pylist()
        }


def require_table(path: TableLocation) -> None:
    """Raise NotADeltaTableError unless there is a table at `path`."""
    if not table_exists(path):
        raise NotADeltaTableError.at(path)


def file_statistics(path: TableLocation, version: int | None = None) -> FileStatistics:
    """The files of a version, the newest by default. Raises NotADeltaTableError."""
    try:
        table = open_table(path, version)
    except TableNotFoundError:
        raise NotADeltaTableError.at(path) from None
    metadata, protocol = table.metadata(), table.protocol()
    fields = json.loads(table.schema().to_json())["fields"]
    return FileStatistics(
        version=table.version(),
        types={field["name"]: _type_text(field["type"]) for field in fields},
        partition_columns=tuple(metadata.partition_columns),
        properties=dict(metadata.configuration),
        features=frozenset((*(protocol.reader_features or ()), *(protocol.writer_features or ()))),
        column_metadata=frozenset(key for field in fields for key in field["metadata"]),
        files=_files(table, metadata.partition_columns),
    )


def _type_text(kind: object) -> str:
    return kind if isinstance(kind, str) else json_text(kind, sort_keys=True)


def _files(table: DeltaTable, partition_columns: Sequence[str]) -> pa.Table:
    files = pa.table(table.get_add_actions(flatten=True))
    names = pa.array([file_name(path) for path in files["path"].to_pylist()], pa.string())
    files = files.append_column("location", files["path"]).set_column(0, "path", names)
    if partition_columns:
        values = pc.cast(files[f"partition.{partition_columns[0]}"], pa.string())
    else:
        values = pa.nulls(files.num_rows, pa.string())
    return files.append_column("partition", values)


def possible_keys(
    statistics: FileStatistics, keys: pa.Table, partitions: Collection[str | None] | None = None
) -> dict[str, int]:
    """File name -> number of `keys` within its bounds; files without any are left out.

    `keys` has a column for each key column and no NULL. Only files of `partitions` (text) are considered, all if None.
    A file without usable bounds may hold every key.
    """
    files = statistics.files
    if partitions is not None:
        files = files.filter(_in(files["partition"], partitions))
    bounded = [name for name in keys.column_names if _has_bounds(files, name, keys.schema.field(name).type)]
    for name in bounded:
        span = pc.min_max(keys[name])
        files = files.filter(_may_overlap(files, name, span["min"], span["max"]))
    admitted = {row["path"]: _count_admitted(row, keys, bounded) for row in files.to_pylist()}
    return {path: count for path, count in admitted.items() if count}


def _in(column: pa.ChunkedArray, values: Collection[str | None]) -> pa.ChunkedArray:
    wanted = pa.array([value or None for value in values], pa.string())
    return pc.is_in(column, value_set=wanted)


def _has_bounds(files: pa.Table, name: str, kind: pa.DataType) -> bool:
    if f"min.{name}" not in files.column_names or f"max.{name}" not in files.column_names:
        return False
    return any(is_kind(kind) for is_kind in _BOUNDED) and _comparable(files.schema.field(f"min.{name}").type, kind)


def _comparable(left: pa.DataType, other: pa.DataType) -> bool:
    return bool(left == other or (pa.types.is_integer(left) and pa.types.is_integer(other)))


def _may_overlap(files: pa.Table, name: str, low: pa.Scalar, high: pa.Scalar) -> pa.ChunkedArray:
    inside = pc.and_(pc.less_equal(files[f"min.{name}"], high), pc.greater_equal(files[f"max.{name}"], low))
    # A file without bounds (statistics off, or only NULL) is not excluded.
    return pc.fill_null(inside, fill_value=True)


def _count_admitted(row: Mapping[str, object], keys: pa.Table, bounded: Sequence[str]) -> int:
    inside: pa.ChunkedArray | None = None
    for name in bounded:
        low, high = row[f"min.{name}"], row[f"max.{name}"]
        if low is None or high is None:
            continue
        here = pc.and_(pc.greater_equal(keys[name], low), pc.less_equal(keys[name], high))
        inside = here if inside is None else pc.and_(inside, here)
    return keys.num_rows if inside is None else int(pc.sum(inside).as_py() or 0)
