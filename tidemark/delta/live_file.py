"""A file of a table, as the log describes it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tidemark.strict_json import json_text

_UNIQUE = ("storageType", "pathOrInlineDv", "offset")


def file_name(path: str) -> str:
    """The last part of a path: unique, because Delta gives every file a new name, and without percent-encoding."""
    return path.rpartition("/")[2]


@dataclass(frozen=True)
class LiveFile:
    """One `add` of the log: `described` as in the log, `handle` Delta's AddFile, for a transaction."""

    described: Mapping[str, Any]
    handle: Any = None

    @property
    def name(self) -> str:
        return file_name(str(self.described["path"]))

    @property
    def identity(self) -> tuple[str, str]:
        """The file's name and vector, which identify its content. It changes when rows are hidden."""
        return self.name, json_text([self._vector.get(name) for name in _UNIQUE])

    @property
    def has_vector(self) -> bool:
        return bool(self._vector)

    @property
    def hidden_rows(self) -> int:
        """The number of rows that the deletion vector hides."""
        return int(self._vector.get("cardinality", 0))

    @property
    def rows(self) -> int | None:
        """The number of visible rows; None if the log does not have it."""
        stats = json.loads(self.described.get("stats") or "{}")
        return int(stats["numRecords"]) - self.hidden_rows if "numRecords" in stats else None

    @property
    def size_bytes(self) -> int:
        return int(self.described["size"])

    @property
    def _vector(self) -> Mapping[str, Any]:
        return self.described.get("deletionVector") or {}


def files_of(files: Sequence[LiveFile], partitions: Sequence[Mapping[str, str]]) -> list[LiveFile]:
    """The files that belong to one of the partitions, given as in the log."""
    return [file for file in files if file.described["partitionValues"] in partitions]


def rows_of(files: Sequence[LiveFile]) -> int:
    """The number of visible rows, as far as the log has it."""
    return sum(file.rows or 0 for file in files)


def written_rows_of(files: Sequence[LiveFile]) -> int:
    """The number of rows including hidden ones, as far as the log has it."""
    return sum((file.rows or 0) + file.hidden_rows for file in files)


def bytes_of(files: Sequence[LiveFile]) -> int:
    return sum(file.size_bytes for file in files)


def write_counts(files: Sequence[LiveFile]) -> dict[str, int]:
    """The counts of a write by Delta's names."""
    return {"numFiles": len(files), "numOutputRows": rows_of(files), "numOutputBytes": bytes_of(files)}
