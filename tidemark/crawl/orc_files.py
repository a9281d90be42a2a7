"""Times and dates of ORC files, by the ORC specification v1 (File Tail, Stripe Footer).

ORC stores a TIMESTAMP as the local time of its writer. Spark stores instants in this form, and notes its own type at
the column. For dates before 1582-10-15, Java and Spark count days of the Julian calendar, C++ of the Gregorian one.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
from pyarrow import orc

from tidemark.crawl.errors import ProbeError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidemark.crawl.folders import Folder

_SPARK_TYPE: Final = b"spark.sql.catalyst.type"
_SAME_AS_UTC: Final = ("UTC", "GMT", "Etc/UTC")
Moved = dict[str, tuple[str, frozenset[str]]]
"""The time zone of a file's writer, and its columns with instants that are stored as local times, by path."""
_FIRST_DAY: Final = -141_427
"""1582-10-15 in days from 1970-01-01: the first day on which both calendars agree."""
_COMPRESSIONS: Final = ("UNCOMPRESSED", "ZLIB", "SNAPPY", "ZSTD")
_STRIPES, _STATISTICS, _OF_DATES, _LEAST, _ZONE = 3, 7, 7, 1, 3
_STRIPE_PARTS: Final = (1, 2, 3, 4)
"""A stripe's offset, and the lengths of index, data and footer."""


def _of_spark(field: pa.Field) -> pa.Field:
    """A column with the type that Spark wrote: times without a zone are whole numbers in ORC, instants local times."""
    kind, noted = field.type, (field.metadata or {}).get(_SPARK_TYPE)
    if pa.types.is_list(kind):
        kind = pa.list_(_of_spark(kind.value_field))
    elif pa.types.is_map(kind):
        kind = pa.map_(_of_spark(kind.key_field), _of_spark(kind.item_field))
    elif pa.types.is_struct(kind):
        kind = pa.struct([_of_spark(part) for part in kind])
    elif noted == b"timestamp_ntz" and pa.types.is_int64(kind):
        kind = pa.timestamp("us")
    elif noted == b"timestamp" and pa.types.is_timestamp(kind):
        kind = pa.timestamp("us", "UTC")
    return field.with_type(kind)


def orc_columns(path: str, folder: Folder, columns: pa.Schema) -> tuple[pa.Schema, Moved]:
    """The columns of a file, and its instants that are local times of another zone than UTC.

    Raises ProbeError for dates before 1582-10-15; errors of Arrow pass.
    """
    read = pa.schema([_of_spark(field) for field in columns])
    if not any(pa.types.is_temporal(leaf) for field in read for leaf in leaves(field.type)):
        return read, {}
    zone = _writer_zone(path, folder)
    changed = [field for field, stored in zip(read, columns, strict=True) if field.type != stored.type]
    moved = [field for field in changed if any(map(_is_instant, leaves(field.type)))]
    if not moved or zone in _SAME_AS_UTC:
        return read, {}
    if any(pa.types.is_nested(field.type) for field in moved):
        raise ProbeError(
            "an ORC file of Spark has TIMESTAMPs inside other types, on the clock of a zone",
            expected="the clock of UTC",
            found=zone,
            where=path.rpartition("/")[2],
            hint="write the rows as Parquet, or by Java with -Duser.timezone=UTC",
        )
    return read, {path: (zone, frozenset(field.name for field in moved))}


def _is_instant(leaf: pa.DataType) -> bool:
    return pa.types.is_timestamp(leaf) and leaf.tz is not None


def leaves(kind: pa.DataType) -> Iterator[pa.DataType]:
    """The types of a type's values, which are not made of others."""
    if not pa.types.is_nested(kind):
        yield kind
        return
    for number in range(kind.num_fields):
        yield from leaves(kind.field(number).type)


def _writer_zone(path: str, folder: Folder) -> str:
    """The time zone of the writer's clock. Raises ProbeError for dates before 1582-10-15; errors of Arrow pass."""
    with folder.system.open_input_file(path) as stream:
        file = orc.ORCFile(stream)
        if file.compression not in _COMPRESSIONS:
            raise ProbeError(
                "the footer of an ORC file with dates or times has an unknown compression",
                expected=", ".join(_COMPRESSIONS),
                found=file.compression,
                where=path.rpartition("/")[2],
            )
        end = file.file_length - 1 - file.file_postscript_length
        footer = list(_part(file, stream, end - file.file_footer_length, file.file_footer_length))
        columns = [dict(_fields(value)) for number, value in footer if number == _STATISTICS]
        least = [dict(_fields(column[_OF_DATES])).get(_LEAST, 0) for column in columns if _OF_DATES in column]
        if any((number >> 1) ^ -(number & 1) < _FIRST_DAY for number in least):
            raise ProbeError(
                "readers of ORC disagree on dates before 1582-10-15, as they use two calendars",
                expected="dates from 1582-10-15 on",
                where=path.rpartition("/")[2],
                hint="write older dates as Parquet, or as texts",
            )
        stripe = next((dict(_fields(value)) for number, value in footer if number == _STRIPES), None)
        if stripe is None:
            return "UTC"
        at, index, data, length = (stripe.get(number, 0) for number in _STRIPE_PARTS)
        return str(dict(_part(file, stream, at + index + data, length)).get(_ZONE, b"UTC"), "ascii")


def _part(file: orc.ORCFile, stream: pa.NativeFile, at: int, length: int) -> Iterator[tuple[int, Any]]:
    """The fields of a message in the file, which may be compressed in chunks."""
    stream.seek(at)
    held = stream.read(length)
    return _fields(held if file.compression == "UNCOMPRESSED" else b"".join(_chunks(file.compression, held)))


def _chunks(compression: str, held: bytes) -> Iterator[bytes]:
    """Each starts with its length and a bit for content that is not compressed."""
    at = 0
    while at < len(held):
        head = int.from_bytes(held[at : at + 3], "little")
        content, at = held[at + 3 : at + 3 + (head >> 1)], at + 3 + (head >> 1)
        if head & 1:
            yield content
        elif compression == "ZLIB":
            yield zlib.decompress(content, -15)
        elif compression == "SNAPPY":
            yield pa.decompress(content, _number(content, 0)[0], "snappy", asbytes=True)
        else:
            yield pa.input_stream(pa.py_buffer(content), compression="zstd").read()


def _fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """Numbers and values of a message of Protocol Buffers: whole numbers, or bytes."""
    at = 0
    while at < len(data):
        key, at = _number(data, at)
        if not key:
            return
        match key & 7:
            case 0:
                value, at = _number(data, at)
                yield key >> 3, value
            case 2:
                length, at = _number(data, at)
                yield key >> 3, data[at : at + length]
                at += length
            case wire:
                at += {1: 8, 5: 4}[wire]


def _number(data: bytes, at: int) -> tuple[int, int]:
    """A number of seven bits a byte, and the place after it."""
    value = shift = 0
    while True:
        byte = data[at]
        value, shift, at = value | (byte & 127) << shift, shift + 7, at + 1
        if byte < 128:
            return value, at
