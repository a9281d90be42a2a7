"""Errors of clustering.

TerminalError
├── ClusterColumnError   a column that rows cannot be clustered by
├── ClusterTableError    a table with a feature that clustering would break
└── ContentChangedError  the written rows differ from the rows read; nothing was committed
"""

from collections.abc import Sequence
from typing import Self

from tidemark.dependency_model.suggestion import did_you_mean
from tidemark.errors import TerminalError
from tidemark.system.table_location import TableLocation


class ClusterColumnError(TerminalError):
    """A column that rows cannot be clustered by."""

    @classmethod
    def unknown(cls, path: TableLocation, name: str, there: Sequence[str]) -> Self:
        return cls(
            "unknown column, or filters cannot skip files by it",
            expected=f"one of {', '.join(there)}",
            found=name,
            where=str(path),
            hint=did_you_mean(name, there),
        )

    @classmethod
    def of_type(cls, path: TableLocation, name: str, kind: str) -> Self:
        return cls(
            "rows cannot be clustered by a column of this type",
            expected="a number, a date, a timestamp or a string in binary order: the log has bounds only of these",
            found=f"{name} {kind}",
            where=str(path),
        )

    @classmethod
    def a_partition(cls, path: TableLocation, name: str) -> Self:
        return cls(
            "the table is partitioned by this column",
            found=name,
            where=str(path),
            hint="each file has one value of it: cluster by other columns, or only a partition with `where`",
        )

    @classmethod
    def without_bounds(cls, path: TableLocation, name: str, properties: str) -> Self:
        return cls(
            "the log has no bounds of this column, so filters on it could not skip files",
            found=f"{name}, and {properties}",
            where=str(path),
            hint="set delta.dataSkippingStatsColumns to the columns that filters use",
        )

    @classmethod
    def number(cls, path: TableLocation, names: Sequence[str]) -> Self:
        return cls(
            "rows are clustered by one to four different columns, each with a weight above 0",
            found=", ".join(names) or "none",
            where=str(path),
        )


class ClusterTableError(TerminalError):
    """A table with a feature that clustering would break."""

    @classmethod
    def with_feature(cls, path: TableLocation, feature: str, hint: str) -> Self:
        return cls("this table cannot be clustered with this command", found=feature, where=str(path), hint=hint)


class ContentChangedError(TerminalError):
    """The written rows differ from the rows read."""

    @classmethod
    def of(cls, path: TableLocation, read: object, written: object) -> Self:
        return cls(
            "the written rows differ from the rows that were read; nothing was committed",
            expected=str(read),
            found=str(written),
            where=str(path),
            hint="VACUUM removes the written files; report this with the table's schema",
        )
