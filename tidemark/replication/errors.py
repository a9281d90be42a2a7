"""Errors of replication.

TransientError
|-- DamagedCopyError  a copy that was read back differs from the file that was sent
`-- ReplicaChangedError  other writers changed the replica's table during every attempt
TerminalError
|-- OtherRowsError    the replica would not have the rows of the slice
|-- ReplicaTableTakenError  another table of that name is there, not a replica of this one
|-- SourceFileError   a file of the source is gone, or differs from its log
|-- RestatedSnapshotError   late changes belong to a snapshot, which no version has
|-- FencedReplicaError  the center beside the replica has taken over the table
|-- OlderSnapshotError   a newer snapshot of the table is at the replica already
`-- NotReplicatedError   a place or an entity that no declaration replicates
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from tidemark.dependency_model.suggestion import did_you_mean
from tidemark.errors import TerminalError, TransientError

if TYPE_CHECKING:
    from collections.abc import Collection

    from tidemark.system.table_location import TableLocation


class DamagedCopyError(TransientError):
    """A copy that was read back differs from the file that was sent."""

    @classmethod
    def of(cls, where: TableLocation, name: str, expected: str, found: str) -> Self:
        return cls(
            "a copied file differs from what was sent, nothing was published",
            expected=expected,
            found=found,
            where=f"{where}/{name}",
            hint="it is sent again; if it fails again, check the disk or the store there",
        )


class ReplicaChangedError(TransientError):
    """Other writers changed the replica's table during every attempt."""

    @classmethod
    def of(cls, where: TableLocation, attempts: int) -> Self:
        return cls(
            f"other writers changed the replica {attempts} times in a row",
            where=str(where),
            hint="only the replication may write to a replica: stop the other writer",
        )


class OtherRowsError(TerminalError):
    """The replica would not have the rows of the slice."""

    @classmethod
    def of(cls, where: TableLocation, slice_: str, expected: int, found: int) -> Self:
        return cls(
            f"the replica of {slice_} would have another number of rows, nothing was published",
            expected=str(expected),
            found=str(found),
            where=str(where),
            hint="delete the replica's table: all of its slices are sent again",
        )


class ReplicaTableTakenError(TerminalError):
    """Another table of that name is there, not a replica of this one."""

    @classmethod
    def of(cls, where: TableLocation, expected: str, found: str) -> Self:
        return cls(
            "the replica's folder has a different table, nothing was written",
            expected=f"no table, or the replica of table {expected}",
            found=f"the replica of table {found}" if found else "a table that was not written by the replication",
            where=str(where),
            hint="give the replica a separate lake, or delete that table if it is not needed",
        )


class SourceFileError(TerminalError):
    """A file of the source is gone, or differs from its log."""

    @classmethod
    def gone(cls, where: TableLocation, name: str) -> Self:
        return cls(
            "a file of the slice is missing at its source",
            where=f"{where}/{name}",
            hint="another program vacuumed the table: compute the slice again",
        )

    @classmethod
    def other_size(cls, where: TableLocation, name: str, expected: int, found: int) -> Self:
        return cls(
            "a file of the slice is damaged at its source",
            expected=f"{expected} bytes, as the log says",
            found=f"{found}",
            where=f"{where}/{name}",
            hint="restore the file, or compute the slice again",
        )

    @classmethod
    def elsewhere(cls, where: TableLocation, name: str) -> Self:
        return cls(
            "a file of the slice is not in its table's folder",
            expected="files below the table's folder",
            found=name,
            where=str(where),
            hint="a shallow clone cannot be replicated: make a deep clone",
        )


class OlderSnapshotError(TerminalError):
    """A newer snapshot of the table is at the replica already."""

    @classmethod
    def of(cls, version: int, there: int) -> Self:
        return cls(
            "the replica already has a newer snapshot of the table: its readers would see an older one",
            expected=f"a version after {there}",
            found=str(version),
            hint="the newer snapshots are there; this one can only be read here",
        )


class RestatedSnapshotError(TerminalError):
    """Late changes belong to a snapshot, which no version has."""

    @classmethod
    def of(cls, slice_: str, generation: int, version: int) -> Self:
        return cls(
            f"generation {generation} of {slice_} is version {version} with late changes: the replica keeps the "
            "generation before",
            expected="a snapshot that is a version of its table",
            found=slice_,
            hint="the next snapshot has the late changes; read this one here",
        )


class FencedReplicaError(TerminalError):
    """The center beside the replica has taken over the table."""

    @classmethod
    def of(cls, where: TableLocation, term: int, own: int) -> Self:
        return cls(
            "the center beside the replica has taken over the table, nothing was published",
            expected=f"no fence after term {own}",
            found=f"term {term}",
            where=str(where),
            hint="restart the processes here to become its replica (docs/replication.md)",
        )


class NotReplicatedError(TerminalError):
    """A place or an entity that no declaration replicates."""

    @classmethod
    def place(cls, name: str, known: Collection[str]) -> Self:
        return cls(
            f"this project has no replica with the name '{name}'",
            expected=f"one of {', '.join(known)}" if known else "a name of `replicas` in tidemark.yaml",
            hint=did_you_mean(name, known) or "add it to `replicas` in tidemark.yaml",
        )

    @classmethod
    def not_partitioned(cls, column: str, columns: Collection[str]) -> Self:
        return cls(
            "a slice is replicated as a partition, but the table has no partitions",
            expected=f"a table that is partitioned by {column}",
            found=f"partitions by {', '.join(columns)}" if columns else "no partitions",
            hint="write the table with its declared partition columns",
        )

    @classmethod
    def nothing(cls) -> Self:
        return cls(
            "this project has no replicas",
            expected="replicas: {center_b: {lake: s3://other-lake/warehouse}}",
            where="tidemark.yaml",
            hint="name a lake there, and in declarations `replicate: [center_b]`",
        )
