"""A file of a table as the log describes it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tidemark.strict_json import json_text

_UNIQUE = ("storageType", "pathOrInlineDv", "offset")


def file_name(path: str) -> str:
    """The last part of a path: unique, as Delta names every file anew, and free of the log's percent-encoding."""
    return path.rpartition("/")[2]


@dataclass(frozen=True)
class LiveFile:
    """One `add` of the log: `described` as it is written there, `handle` Delta's own AddFile, for a transaction."""

    described: Mapping[str, Any]
    handle: Any = None

    @property
    def name(self) -> str:
        return file_name(str(self.described["path"]))

    @property
    def identity(self) -> tuple[str, str]:
        """The same content has the same name and the same vector; it changes when rows are hidden."""
        return self.name, json_text([self._vector.get(name) for name in _UNIQUE])

    @property
    def has_vector(self) -> bool:
        return bool(self._vector)

    @property
    def hidden_rows(self) -> int:
        """Rows that the deletion vector hides."""
        return int(self._vector.get("cardinality", 0))

    @property
    def rows(self) -> int | None:
        """Rows that are not hidden; None where the log does not say."""
        stats = json.loads(self.described.get("stats") or "{}")
        return int(stats["numRecords"]) - self.hidden_rows if "numRecords" in stats else None

    @property
    def size_bytes(self) -> int:
        return int(self.described["size"])

    @property
    def _vector(self) -> Mapping[str, Any]:
        return self.described.get("deletionVector") or {}


def files_of(files: Sequence[LiveFile], partitions: Sequence[Mapping[str, str]]) -> list[LiveFile]:
    """Those of the files that belong to one of the partitions, given as the log writes them."""
    return [file for file in files if file.described["partitionValues"] in partitions]


def rows_of(files: Sequence[LiveFile]) -> int:
    """Rows that are not hidden, as far as the log says."""
    return sum(file.rows or 0 for file in files)


def written_rows_of(files: Sequence[LiveFile]) -> int:
    """Rows with those that are hidden, as far as the log says."""
    return sum((file.rows or 0) + file.hidden_rows for file in files)


def bytes_of(files: Sequence[LiveFile]) -> int:
    return sum(file.size_bytes for file in files)


def write_counts(files: Sequence[LiveFile]) -> dict[str, int]:
    """New files in Delta's names of a write's counts."""
    return {"numFiles": len(files), "numOutputRows": rows_of(files), "numOutputBytes": bytes_of(files)}
