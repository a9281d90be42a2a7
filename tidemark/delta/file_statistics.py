"""What the log says of a version's files - partition, rows, bytes, bounds of the keys - without a Spark job (delta-rs).

From this alone follows which files can hold a key: a file whose bounds exclude it does not.
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
# Types whose bounds in the log are what they say: text is cut with the upper bound rounded up; times are rounded to
# milliseconds and floats may be NaN, so bounds of those are not used.
_BOUNDED = (pa.types.is_integer, pa.types.is_string, pa.types.is_large_string, pa.types.is_date)


@dataclass(frozen=True)
class FileStatistics:
    """The live files of `version`, and what the table is then; `types` of its columns in Delta's words.

    `column_metadata` are the keys of all that the schema says of columns beside their types.
    `files` has columns path (file name), location (as the log has it), modification_time (ms), size_bytes, num_records,
    partition (text; the first partition column's, NULL without one) and, where the log has them, min.<column>,
    max.<column> and partition.<column>.
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
        """Delta names every file anew; a folder of another engine that became a table may repeat its names."""
        return bool(pc.count_distinct(self.files["path"]).as_py() == self.files.num_rows)

    @property
    def size_bytes(self) -> int:
        return int(pc.sum(self.files["size_bytes"]).as_py() or 0)

    def add_actions(self, names: Collection[str]) -> list[dict[str, Any]] | None:
        """The `add` actions of some files, by file name; None where only the log itself says all of them.

        They are without statistics, which a reader of the file and its removal do without.
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
        """File name -> (bytes, rows); rows that a deletion vector hides are counted."""
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
    """File name -> how many of `keys` (a column a key column, no NULL) its bounds admit; files that admit none are out.

    Only files of `partitions` (text) are looked at, all where None. A file without usable bounds admits every key.
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
    # No bounds (statistics switched off, or nothing but NULL): not excluded.
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
