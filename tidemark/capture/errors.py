"""Errors of capture. Each names the file and line, or the table, and what to do.

CaptureError
├── ChangeFileError  a change file that cannot be used: none of its records was taken in
│   ├── FileNameError    a name that does not say the first offset
│   ├── CorruptFileError    truncated, or not of the kind that its name promises
│   ├── FileTooBigError  expands to more than a pass can read
│   └── MalformedLineError  a line that is not a change record
├── OffsetGapError   changes are missing between two files
├── ColumnTypeError  a column's type is malformed, unknown or changed
│   └── UnknownColumnTypeError  a type without a matching type in the lake
├── DeclarationError    a recorded schema change that cannot be read
├── ChangeValueError    a value that does not fit its column's type
├── SharedPhysicalTableError  two logical tables claim one physical table
├── DeclaredKeyError    the declared key is not the source's primary key
├── ForeignWriteError   another program changed rows of a captured table
├── TooManySlicesError  an event completes more slices than can be tagged
├── FencedCaptureError  another data folder captures into the warehouse
├── FencedWriteError    another data folder took over during a write
├── ReloadColumnsError  the columns of a table to load are unknown
├── UnexpectedTableError   a table's capture failed with an unknown error
└── ReplayUnreadableError  records behind a dead letter that were read before and cannot be read now
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final, Self

from tidemark.system.errors import CaptureError
from tidemark.system.table_location import TableLocation

_CAUSE: Final = "Caused by: "


class ChangeFileError(CaptureError):
    """A change file that cannot be used; `path` is the file."""

    path: Path


class FileNameError(ChangeFileError):
    """A change file whose name does not say the first offset."""

    @classmethod
    def of(cls, path: Path, others: int) -> Self:
        error = cls(
            "a landed file has a name of another form, so it would not be read",
            expected="the first offset with 12 digits, such as 000000000000.jsonl.gz",
            found=f"{path.name}{f' and {others:,} more' if others else ''}",
            where=str(path.parent),
            hint="rename it, or move it out of the folder; a name that begins with a dot is ignored",
        )
        error.path = path
        return error


class CorruptFileError(ChangeFileError):
    """A change file that is truncated, or not of the kind that its name promises."""

    @classmethod
    def of(cls, path: Path, problem: str) -> Self:
        error = cls(
            "the change file is truncated or corrupt",
            found=problem,
            where=str(path),
            hint="the file was not read; replace it with a complete copy and continue",
        )
        error.path = path
        return error


class FileTooBigError(ChangeFileError):
    """A change file that expands to more than a pass can read."""

    @classmethod
    def of(cls, path: Path, expected: str, problem: str) -> Self:
        error = cls(
            "the change file is too big when expanded",
            expected=expected,
            found=problem,
            where=str(path),
            hint="the file was not read; replace it with several files of the same records",
        )
        error.path = path
        return error


class MalformedLineError(ChangeFileError):
    """A line that is not a change record."""

    @classmethod
    def of(cls, path: Path, line: int, problem: str) -> Self:
        error = cls(
            "this is not a change record",
            expected='one JSON object {"topic", "partition", "offset", "key", "value"} as Debezium wrote it',
            found=problem,
            where=f"{path}:{line}",
            hint="the file was not read; correct the line, or replace the file with a complete copy, and continue",
        )
        error.path = path
        return error


class OffsetGapError(CaptureError):
    """Changes are missing between two files."""

    @classmethod
    def of(cls, topic: str, path: Path, expected: int, problem: int) -> Self:
        return cls(
            f"changes are missing in {topic}",
            expected=f"offset {expected}",
            found=f"{problem}: {problem - expected} changes are missing",
            where=str(path),
            hint=f"earlier changes are merged; put the file with offset {expected} into {path.parent} and continue",
        )


class ColumnTypeError(CaptureError):
    """A column's type is malformed, unknown or changed, or a declared column is missing."""

    @classmethod
    def unknown(cls, table: str, column: str, type_name: str) -> Self:
        return cls(
            "a source column has no matching Delta type",
            found=f"{column} {type_name}",
            where=table,
            hint="leave the column out (source: columns: exclude), or add the type to "
            "tidemark/capture/schema/source_types.py",
        )

    @classmethod
    def changed(cls, table: str, column: str, before: str, now: str) -> Self:
        return cls(
            "a source column changed to a type that is not wider",
            expected=f"{column} {before}",
            found=now,
            where=table,
            hint="changes after it are not merged, because the existing rows have other values in that type; load the "
            "table again, from a snapshot that was taken after the change",
        )

    @classmethod
    def missing(cls, table: str, column: str, names: Iterable[str]) -> Self:
        return cls(
            "a declared column is not in the source",
            expected=column,
            found=", ".join(names),
            where=table,
            hint="correct key and partition_by in the entity's YAML",
        )

    @classmethod
    def undeclared(cls, table: str, where: str) -> Self:
        return cls(
            "rows arrived before the schema change that declares their table",
            expected="a record with tableChanges",
            found="none",
            where=f"{table}, {where}",
            hint="record schema changes, too (Debezium: include.schema.changes=true), from the topic's beginning",
        )


class UnknownColumnTypeError(ColumnTypeError):
    """A type without a matching type in the lake. Its column is left out unless the table needs it."""


class DeclarationError(CaptureError):
    """A recorded schema change that cannot be read."""

    @classmethod
    def of(cls, table: str, problem: str) -> Self:
        return cls(
            "a recorded schema change cannot be read",
            expected="the table's columns as Debezium (tableChanges) or Canal (mysqlType) declares them",
            found=problem,
            where=table,
            hint="its later changes are not merged, other tables continue; find the program that wrote the record, and "
            "load the table again from a topic without it",
        )


class DeclaredKeyError(CaptureError):
    """The declared key is not the source's primary key. A merge by it would lose or duplicate rows."""

    @classmethod
    def of(cls, physical: str, declared: Iterable[str], there: Sequence[str]) -> Self:
        return cls(
            "the declared key is not the source's primary key",
            expected=f"key: [{', '.join(there)}]" if there else "a table with a primary key",
            found=f"key: [{', '.join(declared)}]",
            where=physical,
            hint="later changes of the table are not merged; correct `key` in the entity's YAML, and if rows "
            "were merged by the wrong key, remove the entity's Delta table and capture it again",
        )


class ForeignWriteError(CaptureError):
    """Another program changed rows of a captured table."""

    @classmethod
    def of(cls, table: str, own: int, version: int, operation: str) -> Self:
        return cls(
            "another program changed rows of a captured table",
            expected=f"the rows of version {own}, the last one that capture wrote",
            found=f"version {version}, made by {operation}",
            where=table,
            hint=f"nothing was merged after it, other tables continue; RESTORE the Delta table to version {own}, or "
            f"read it again: tidemark capture reload {table}",
        )

    @classmethod
    def beneath(cls, table: str, own: int, version: int, operation: str) -> Self:
        """The other write came between the version that capture planned on and capture's own commit."""
        return cls(
            "another program changed rows of a captured table while changes were merged",
            expected=f"no version between version {own} and the version that it was planned on",
            found=f"version {version}, made by {operation}",
            where=table,
            hint=f"version {own} got no tag, other tables continue; read it again: tidemark capture reload {table}",
        )


class TooManySlicesError(CaptureError):
    """An event so far in the future that the slices before it are too many to tag."""

    @classmethod
    def of(cls, table: str, entity: str, most: int, first: str, reached: datetime) -> Self:
        """`first` is the next slice of the entity, `reached` the time of the newest event."""
        return cls(
            f"an event at {reached.isoformat()} would complete too many slices of {entity}",
            expected=f"at most {most:,} from {first} on",
            found="more",
            where=table,
            hint="if a server's clock was wrong, let heartbeats be written (TIDEMARK_DATABASES): the next one "
            "disproves it; if the time is right, give the entity a later `start` or a longer period",
        )


class FencedCaptureError(CaptureError):
    """Another state store captures into the warehouse."""

    @classmethod
    def of(cls, warehouse: TableLocation, own: str, newest: str, state_store: str) -> Self:
        return cls(
            "another capture took over this warehouse: this one merges no more changes",
            expected=f"the lease of {own} ({state_store})",
            found=f"the lease of {newest}",
            where=str(warehouse),
            hint="stop one of the two; to continue with this one: tidemark capture take-over",
        )


class FencedWriteError(CaptureError):
    """Another state store took over while this one was writing."""

    @classmethod
    def of(cls, path: TableLocation, own: int, newest: int) -> Self:
        return cls(
            "another capture took over while this one was writing: nothing of this batch was merged",
            expected=f"{own} as the newest fencing token",
            found=str(newest),
            where=str(path),
            hint="stop one of the two; to continue with this one: tidemark capture take-over",
        )


class ReloadColumnsError(CaptureError):
    """A table is to be loaded, and its columns are unknown."""

    @classmethod
    def of(cls, table: str) -> Self:
        return cls(
            "a table cannot be loaded, because its columns are not known",
            expected="the list of columns from the source",
            found="none",
            where=table,
            hint="add the instance's address to TIDEMARK_DATABASES, and request it again: tidemark capture reload",
        )


class UnexpectedTableError(CaptureError):
    """A table's capture failed with an error that is not one of ours."""

    @classmethod
    def of(cls, table: str, error: Exception) -> Self:
        return cls(
            "the capture of a table failed unexpectedly",
            found=f"{type(error).__name__}: {_told(error)}",
            where=table,
            hint="other tables continue, and the next step retries it; report it with the log if it returns",
        )


def _told(error: Exception) -> str:
    """The first line of an error and its deepest Java cause. The first line alone may only say `writeFiles failed`."""
    lines = str(error).splitlines() or [""]
    causes = [line.strip() for line in lines if line.startswith(_CAUSE)]
    return " ".join(line[:300] for line in (lines[0], *causes[-1:]))


class ChangeValueError(CaptureError):
    """A value that does not fit its column's type."""

    @classmethod
    def of(cls, table: str, where: str, problem: str) -> Self:
        return cls(
            "a value does not fit its column's type",
            found=problem,
            where=f"{table}, {where}",
            hint="no change of this batch was merged into the table; correct the record and continue",
        )


class ReplayUnreadableError(CaptureError):
    """Records behind a dead letter that were read before and cannot be read now."""

    @classmethod
    def of(cls, topic: str, first: int, count: int) -> Self:
        return cls(
            "records after those of the dead-letter queue cannot be read now, so the effect is not known",
            expected="the same records as when they were merged",
            found=f"{count} unreadable records, the first at offset {first}",
            where=topic,
            hint="set TIDEMARK_CANAL to its value of that time, or load the instance's tables again",
        )


class SharedPhysicalTableError(CaptureError):
    """Two logical tables claim one physical table."""

    @classmethod
    def of(cls, physical: str, instance: str, tables: tuple[str, str]) -> Self:
        return cls(
            "a physical table belongs to two logical tables",
            expected="one logical table",
            found=" and ".join(tables),
            where=f"{physical} of instance {instance}",
            hint="correct `table` and `instances` in the source of one of the two entities",
        )
