"""Errors of Delta operations.

TerminalError
├── NotADeltaTableError     no table at the path
├── ColumnsDifferError      the caller's columns are not the table's, or the table changed meanwhile
└── KeyNotUniqueError       rows that a merge cannot tell apart

TransientError
└── ConflictError           other writers won every attempt
"""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Self

from dependency_model.errors import TerminalError, TransientError


class NotADeltaTableError(TerminalError):
    """No table at the path."""

    @classmethod
    def at(cls, path: Path) -> Self:
        found = "a folder without _delta_log" if path.is_dir() else "no such folder"
        return cls("not a Delta table", expected="a folder with _delta_log", found=found, where=str(path))


class ColumnsDifferError(TerminalError):
    """The caller's columns are not the table's."""

    @classmethod
    def of(cls, path: Path, given: Collection[str], there: Collection[str]) -> Self:
        found = [f"no column {name} in the table" for name in sorted(set(given) - set(there))]
        found += [f"column {name} of the table is not given" for name in sorted(set(there) - set(given))]
        return cls(
            "the columns are not the table's",
            expected=", ".join(there),
            found="; ".join(found),
            where=str(path),
            hint="add new columns to the table first; write a column that is no longer filled as NULL",
        )

    @classmethod
    def changed(cls, path: Path, error: Exception) -> Self:
        return cls(
            "the table's schema or protocol was changed by another writer meanwhile",
            found=str(error).partition("\n")[0],
            where=str(path),
            hint="look at the table's columns, then start again",
        )


class KeyNotUniqueError(TerminalError):
    """Rows that a merge cannot tell apart."""

    @classmethod
    def in_target(cls, path: Path, key: Sequence[str], example: Sequence[object], count: int) -> Self:
        return cls(
            "several rows of the table have the same key",
            expected=f"({', '.join(key)}) is unique",
            found=f"({', '.join(map(str, example))}) more than once; {count} such key{'s' * (count > 1)} in this batch",
            where=str(path),
            hint="repair the partition from a version before the second row came, or delete the surplus rows",
        )

    @classmethod
    def missing(cls, path: Path, column: str) -> Self:
        return cls(
            "a change has no key", expected=f"a value of {column}", found="NULL", where=str(path), hint="correct it"
        )


class ConflictError(TransientError):
    """Other writers won every attempt."""

    @classmethod
    def of(cls, path: Path, attempts: int, error: Exception) -> Self:
        return cls(
            f"other writers changed the same data {attempts} times in a row",
            found=f"{type(error).__name__}: {str(error).partition(chr(10))[0]}",
            where=str(path),
            hint="nothing was written; start it again when they are done",
        )
