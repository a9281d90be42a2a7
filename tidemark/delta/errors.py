"""Errors of Delta operations.

TerminalError
├── NotADeltaTableError  the path has no table
├── ColumnsDifferError   the caller's columns are not the table's, or the table changed meanwhile
├── KeyNotUniqueError    rows that a merge cannot distinguish
├── VersionGoneError  a version that cannot be read (any more)
├── ConditionRefusedError   a condition on rows that cannot be evaluated
├── TableFeatureError    a feature of the table that an operation does not support
├── UnreadableLogError   a log that cannot be read completely
└── ForeignCommitError   another writer committed in place of a transaction
TransientError
├── CommitConflictError  other writers won every attempt
├── TableChangedError   a table changed while it was rebuilt
└── PartitionChangedError   a partition changed since the plan was made
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Self

from tidemark.errors import TerminalError, TransientError
from tidemark.storage.stored_files import stored_files
from tidemark.system.table_location import TableLocation


class NotADeltaTableError(TerminalError):
    """The path has no table."""

    @classmethod
    def at(cls, path: TableLocation) -> Self:
        state = "a folder without _delta_log" if stored_files(path).has_files("") else "the folder does not exist"
        return cls("not a Delta table", expected="a folder with _delta_log", found=state, where=str(path))


class ColumnsDifferError(TerminalError):
    """The caller's columns are not the table's."""

    @classmethod
    def of(cls, path: TableLocation, given: Collection[str], there: Collection[str]) -> Self:
        differences = [f"no column {name} in the table" for name in sorted(set(given) - set(there))]
        differences += [f"column {name} of the table is missing" for name in sorted(set(there) - set(given))]
        return cls(
            "the columns differ from the table's columns",
            expected=", ".join(there),
            found="; ".join(differences),
            where=str(path),
            hint="add new columns to the table first; write a column that is no longer filled as NULL",
        )

    @classmethod
    def changed(cls, path: TableLocation, error: Exception) -> Self:
        return cls(
            "another writer changed the table's schema or protocol in the meantime",
            found=str(error).partition("\n")[0],
            where=str(path),
            hint="check the table's columns, then start again",
        )


class KeyNotUniqueError(TerminalError):
    """Rows that a merge cannot distinguish."""

    @classmethod
    def in_target(cls, path: TableLocation, key: Sequence[str], example: Sequence[object], count: int) -> Self:
        return cls(
            "several rows of the table have the same key",
            expected=f"({', '.join(key)}) is unique",
            found=f"({', '.join(map(str, example))}) more than once; {count} such key{'s' * (count > 1)} in this batch",
            where=str(path),
            hint="repair the partition from a version before the second row was written, or delete the surplus rows",
        )

    @classmethod
    def missing(cls, path: TableLocation, column: str) -> Self:
        return cls(
            "a change has no key", expected=f"a value of {column}", found="NULL", where=str(path), hint="correct it"
        )


class VersionGoneError(TerminalError):
    """A version that cannot be read (any more)."""

    @classmethod
    def unknown(cls, path: TableLocation, version: int, newest: int) -> Self:
        return cls("the version does not exist", expected=f"0 to {newest}", found=str(version), where=str(path))

    @classmethod
    def log(cls, path: TableLocation, version: int, reason: str) -> Self:
        return cls(
            f"version {version} can no longer be read",
            expected="its part of the log",
            found=reason.partition("\n")[0],
            where=str(path),
            hint="choose a later version or a tagged snapshot, or compute the partition again",
        )

    @classmethod
    def files(cls, path: TableLocation, version: int, gone: Sequence[str], wanted: int) -> Self:
        return cls(
            f"version {version} was vacuumed",
            expected=f"all {wanted} files of the partition in that version",
            found=f"{len(gone)} are gone, {gone[0]} among them",
            where=str(path),
            hint="choose a tagged snapshot (VACUUM keeps its files), or compute the partition again",
        )


class ConditionRefusedError(TerminalError):
    """A condition on rows that cannot be evaluated."""

    @classmethod
    def of(cls, path: TableLocation, condition: str, error: Exception) -> Self:
        return cls(
            f"the condition cannot be evaluated: {str(error).partition(chr(10))[0]}",
            expected="a condition in SQL over the table's columns",
            found=condition,
            where=str(path),
        )


class TableFeatureError(TerminalError):
    """A feature of the table that an operation does not support."""

    @classmethod
    def of(cls, path: TableLocation, feature: str, operation: str) -> Self:
        return cls(f"the table has {feature}, with which {operation} is not possible", where=str(path))

    @classmethod
    def unreadable(cls, where: str, features: Sequence[str], known: Sequence[str]) -> Self:
        return cls(
            "the table's rows cannot be read without Spark",
            expected=f"only the features {', '.join(known)}",
            found=", ".join(features),
            where=where,
            hint="drop the feature with Spark (ALTER TABLE ... DROP FEATURE), or read the table with Spark",
        )

    @classmethod
    def unknown(cls, path: TableLocation, features: Sequence[str], operation: str) -> Self:
        return cls(
            f"the table has features that {operation} does not support: nothing was changed",
            found=", ".join(features),
            where=str(path),
            hint="use Delta's own command, or drop the feature (ALTER TABLE ... DROP FEATURE)",
        )


class UnreadableLogError(TerminalError):
    """A log that cannot be read completely."""

    @classmethod
    def of(cls, path: TableLocation, problem: str) -> Self:
        return cls(
            "the table's log cannot be read as a whole: nothing was changed",
            expected="every commit from version 0, or from a whole checkpoint, up to the newest",
            found=problem,
            where=str(path),
            hint="if a writer was cleaning up, try again; otherwise restore the log's files from a copy",
        )


class ForeignCommitError(TerminalError):
    """Another writer committed in place of a transaction."""

    @classmethod
    def of(cls, path: TableLocation, app: str, number: int, newest: int, writer: str | None) -> Self:
        by = f", written by {writer}" if writer else ""
        return cls(
            "another writer of the same application committed to the table: nothing was written",
            expected=f"{app} at its transaction {number - 1}",
            found=f"transaction {newest}{by}",
            where=str(path),
            hint="only one writer is allowed: stop the other one; the next attempt starts at the newest version",
        )


class CommitConflictError(TransientError):
    """Other writers won every attempt."""

    @classmethod
    def of(cls, path: TableLocation, attempts: int, error: Exception) -> Self:
        return cls(
            f"other writers changed the same data {attempts} times in a row",
            found=f"{type(error).__name__}: {str(error).partition(chr(10))[0]}",
            where=str(path),
            hint="nothing was written; try again when they have finished",
        )


class PartitionChangedError(TransientError):
    """A partition changed since the plan was made."""

    @classmethod
    def of(cls, path: TableLocation, partition: Mapping[str, object], planned: int, newest: int | None) -> Self:
        words = ", ".join(f"{name}={value}" for name, value in partition.items())
        return cls(
            f"another writer changed {words} in the meantime",
            expected=f"the files of version {planned}",
            found="a commit at the same moment" if newest is None else f"other files in version {newest}",
            where=str(path),
            hint="nothing was written; check the plan again, then repeat it",
        )


class TableChangedError(TransientError):
    """A table changed while it was rebuilt."""

    @classmethod
    def of(cls, path: TableLocation, begun_at: int, newest: int | None) -> Self:
        return cls(
            "another writer changed the table while it was rebuilt",
            expected=f"version {begun_at}",
            found="a commit at the same moment" if newest is None else f"version {newest}",
            where=str(path),
            hint="the table is as that writer left it; repeat the command",
        )
