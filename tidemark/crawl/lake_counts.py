"""The rows that a table gains and loses by minute, commit by commit: only files that a commit adds are read (C4).

Each file is a part. Its rows are counted when it is added, and are zero once it is removed by any program, by DELETE,
RESTORE or OPTIMIZE. So rows that are deleted later, or written twice, are seen without a scan.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tidemark.crawl.errors import ProbeError
from tidemark.delta.table_changes import changes_after, has_log, position_at
from tidemark.storage.stored_files import stored_files

if TYPE_CHECKING:
    from tidemark.delta.table_changes import LogPosition
    from tidemark.dependency_model.time.zone import Zone
    from tidemark.system.table_location import TableLocation

_MINUTE: Final = 60
_UNITS: Final = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


@dataclass
class LakeCounts:
    """The changes of a table since a position of its log.

    `added` counts the rows of each part and minute (since 1970-01-01T00:00Z). `removed` are the removed parts. With
    `is_anew` all earlier counts are invalid. `told` has the user metadata of the commits, in order; with `is_whole`
    they begin with the table's first commit.
    """

    position: LogPosition | None
    is_anew: bool = False
    added: dict[str, Counter[int]] = field(default_factory=dict)
    removed: set[str] = field(default_factory=set)
    told: list[str] = field(default_factory=list)
    is_whole: bool = False


def lake_counts(path: TableLocation, seen: LogPosition | None, column: str, zone: Zone | None) -> LakeCounts:
    """The counts of all commits after `seen`. Raises TidemarkError if the log or a file cannot be read.

    A file that was added and removed in between is not read. Rows without a time are not counted. A file with a
    deletion vector counts as empty: the result is too low and completes nothing. A column without a zone is on the
    clock of `zone`.
    """
    if not has_log(path):
        return LakeCounts(None, is_anew=seen is not None)
    changes = changes_after(path, seen)
    counts, files = LakeCounts(seen, changes.is_anew), dict[str, tuple[str, ...]]()
    for commit in changes.commits:
        counts.is_whole |= commit.version == 0
        counts.told.append(str(commit.info.get("userMetadata") or ""))
        for file in commit.removed:
            if files.pop(file.identity, None) is None:
                counts.removed.add(file.identity)
        for file in commit.added:
            files[file.identity] = file.paths
            counts.removed.discard(file.identity)
        counts.position = position_at(path, commit.version)
    for part, paths in files.items():
        counts.added[part] = Counter() if part != paths[0] else _minutes(path, paths[0], column, zone)
    return counts


def _minutes(path: TableLocation, name: str, column: str, zone: Zone | None) -> Counter[int]:
    try:
        times = pq.read_table(stored_files(path).arrow_source(name), columns=[column], partitioning=None)[column]
    except (OSError, KeyError, pa.ArrowException) as error:
        raise ProbeError("a file of the table cannot be counted", found=str(error)[:300], where=name) from None
    if not pa.types.is_timestamp(times.type):
        raise ProbeError("the column does not give the minute", expected="TIMESTAMP", found=f"{column} {times.type}")
    per_minute = _MINUTE * _UNITS[times.type.unit]
    numbers = pc.divide(times.cast(pa.int64()).drop_null(), per_minute)
    readings = Counter({row["values"]: row["counts"] for row in pc.value_counts(numbers).to_pylist()})
    if times.type.tz is not None or zone is None:
        return readings
    minutes: Counter[int] = Counter()
    for reading, rows in readings.items():
        minutes[zone.earliest(reading * _MINUTE) // _MINUTE] += rows
    return minutes
