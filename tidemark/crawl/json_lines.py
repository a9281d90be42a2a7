"""JSON lines, with the types of their values: a text stays a text, even if it looks like a time.

Types are inferred once from all lines: whole numbers are BIGINT, longer ones DECIMAL(38), other numbers DOUBLE. A field
with values of incompatible types is a text, as in Spark. Each scan reads the lines again.
"""

from __future__ import annotations

import io
import json
from functools import cached_property, reduce
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from tidemark.crawl.errors import ProbeError
from tidemark.strict_json import json_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tidemark.crawl.folders import Folder

_AT_ONCE: Final = 8_192
_LONG: Final = 1 << 63
_LONGEST: Final = 10**38
_DIGITS: Final = pa.decimal128(38, 0)
_DECODER: Final = json.JSONDecoder()
_PLAIN: Final = {type(None): pa.null(), bool: pa.bool_(), float: pa.float64(), str: pa.string()}


class JsonLines:
    """The rows of files, for a reader of Arrow streams such as DuckDB."""

    def __init__(self, folder: Folder, paths: Sequence[str]) -> None:
        self._folder, self._paths = folder, paths
        self._count = 0

    @cached_property
    def schema(self) -> pa.Schema:
        """The fields of all lines, in order of appearance. Raises ProbeError with file and line."""
        kinds: dict[str, pa.DataType] = {}
        for _, row in self._rows():
            self._count += 1
            for name, value in row.items():
                kinds[name] = _merged(kinds.get(name, pa.null()), _kind(value))
        return pa.schema([(name, pa.string() if pa.types.is_null(kind) else kind) for name, kind in kinds.items()])

    def count_rows(self) -> int:
        """The number of lines. Raises ProbeError."""
        return self._count if self.schema is not None else 0

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        reader = pa.RecordBatchReader.from_batches(self.schema, self._batches())
        return reader.__arrow_c_stream__(requested_schema)

    def _batches(self) -> Iterator[pa.RecordBatch]:
        texts = [field.name for field in self.schema if pa.types.is_string(field.type)]
        waiting = (_with_texts(line, row, texts) for line, row in self._rows())
        while rows := list(islice(waiting, _AT_ONCE)):
            columns = [[_as(row.get(field.name), field.type) for row in rows] for field in self.schema]
            arrays = [pa.array(values, field.type) for values, field in zip(columns, self.schema, strict=True)]
            yield pa.record_batch(arrays, schema=self.schema)

    def _rows(self) -> Iterator[tuple[str, dict[str, Any]]]:
        for path in self._paths:
            with self._folder.system.open_input_stream(path) as stream:
                yield from _objects(path, io.TextIOWrapper(stream, "utf-8-sig"))


def _objects(path: str, lines: Iterable[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield line, _object(line, f"{path.rpartition('/')[2]}:{number}")


def _with_texts(line: str, row: dict[str, Any], texts: Sequence[str]) -> dict[str, Any]:
    """The row, with the written form of other values in text columns."""
    if all(row.get(name) is None or isinstance(row[name], str) for name in texts):
        return row
    written = dict(_members(line))
    return {
        name: value if value is None or isinstance(value, str) or name not in texts else written[name]
        for name, value in row.items()
    }


def _members(line: str) -> Iterator[tuple[str, str]]:
    """Each member of an object, with its value as written."""
    at = _next(line, line.index("{") + 1)
    while line[at] != "}":
        name, end = _DECODER.raw_decode(line, at)
        begin = _next(line, end)
        _, end = _DECODER.raw_decode(line, begin)
        yield str(name), line[begin:end]
        at = _next(line, end)


def _next(line: str, at: int) -> int:
    while line[at] in " \t\r\n:,":
        at += 1
    return at


def _object(line: str, where: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ProbeError("a line is not JSON", where=where) from error
    if not isinstance(value, dict):
        raise ProbeError("a line is not a JSON object", where=where, found=type(value).__name__)
    return value


def _kind(value: object) -> pa.DataType:
    if isinstance(value, dict):
        return pa.struct([(name, _kind(member)) for name, member in value.items()])
    if isinstance(value, list):
        return pa.list_(reduce(_merged, map(_kind, value), pa.null()))
    if isinstance(value, int) and not isinstance(value, bool):
        return pa.int64() if -_LONG <= value < _LONG else _DIGITS if abs(value) < _LONGEST else pa.float64()
    return _PLAIN[type(value)]


def _merged(left: pa.DataType, right: pa.DataType) -> pa.DataType:
    """The common type of two types."""
    if left == right or pa.types.is_null(right):
        return left
    if pa.types.is_null(left):
        return right
    if pa.types.is_list(left) and pa.types.is_list(right):
        return pa.list_(_merged(left.value_type, right.value_type))
    if pa.types.is_struct(left) and pa.types.is_struct(right):
        fields = {field.name: field.type for field in left}
        for field in right:
            fields[field.name] = _merged(fields.get(field.name, pa.null()), field.type)
        return pa.struct(list(fields.items()))
    numbers = (pa.int64(), _DIGITS, pa.float64())
    if left in numbers and right in numbers:
        return max(left, right, key=numbers.index)
    return pa.string()


def _as(value: Any, kind: pa.DataType) -> Any:
    """A value for an array of this type."""
    if value is None or pa.types.is_null(kind):
        return None
    if pa.types.is_string(kind):
        return value if isinstance(value, str) else json_text(value)
    if pa.types.is_float64(kind):
        return float(value)
    if pa.types.is_list(kind):
        return [_as(member, kind.value_type) for member in value]
    if pa.types.is_struct(kind):
        return {field.name: _as(value.get(field.name), field.type) for field in kind}
    return value
