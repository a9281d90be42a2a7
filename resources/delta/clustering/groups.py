"""Which files are clustered together: those of one partition, of the whole table where it has none."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

CLUSTERED = "tidemark.clustered"
# A pass makes at most so many files of so many partitions: what the driver plans at a time is bounded.
MOST_FILES, MOST_GROUPS = 512, 64
# Earlier passes over less than this many times the new data are clustered again with it: each row a few times at most.
_MERGED_RATIO = 2.0


@dataclass(frozen=True)
class SourceFile:
    """A live file: `described` as the log writes it, `handle` as Delta's AddFile."""

    described: Mapping[str, Any]
    handle: Any

    @property
    def name(self) -> str:
        return str(self.described["path"]).rpartition("/")[2]

    @property
    def identity(self) -> tuple[str, str]:
        """Changes when rows of the file are hidden."""
        return self.name, json.dumps(self.described.get("deletionVector"), sort_keys=True)

    @property
    def hidden(self) -> int:
        return int((self.described.get("deletionVector") or {}).get("cardinality", 0))

    @property
    def size_bytes(self) -> int:
        """The share of the file that is not hidden."""
        size, rows = int(self.described["size"]), self.rows
        return size if not self.hidden or not rows else round(size * rows / (rows + self.hidden))

    @property
    def rows(self) -> int | None:
        """Rows that are not hidden; None where the log does not say."""
        stats = json.loads(self.described.get("stats") or "{}")
        return int(stats["numRecords"]) - self.hidden if "numRecords" in stats else None

    def pass_of(self, spec: str) -> str | None:
        """The pass that wrote this file by the same columns and weights; None where none did."""
        by, _, number = (self.described.get("tags") or {}).get(CLUSTERED, "").rpartition("#")
        return number if number and by == spec else None


@dataclass(frozen=True)
class Group:
    """Files of one partition (column -> value as text) that become `wanted` files."""

    partition: Mapping[str, str | None]
    files: tuple[SourceFile, ...]
    wanted: int

    @property
    def key(self) -> str:
        return partition_key(self.partition)

    @property
    def size_bytes(self) -> int:
        return sum(file.size_bytes for file in self.files)


def partition_key(partition: Mapping[str, str | None]) -> str:
    return json.dumps(partition, sort_keys=True)


def groups_of(files: Iterable[SourceFile], target_bytes: int) -> list[Group]:
    """The files by partition; a partition of one small file without hidden rows has nothing to gain."""
    by_partition: dict[str, list[SourceFile]] = defaultdict(list)
    for file in files:
        by_partition[partition_key(file.described["partitionValues"])].append(file)
    found = []
    for key in sorted(by_partition):
        own = by_partition[key]
        wanted = max(1, round(sum(file.size_bytes for file in own) / target_bytes))
        if len(own) > 1 or wanted > 1 or own[0].hidden:
            found.append(Group(own[0].described["partitionValues"], tuple(own), wanted))
    return found


def not_clustered(files: Sequence[SourceFile], spec: str) -> list[SourceFile]:
    """The files that no pass by `spec` wrote, and those of earlier passes that are small beside them.

    Work is proportional to the new data, and the number of passes that a filter has to look into to the logarithm of
    the table's size (the tiers of a log-structured merge tree).
    """
    by_partition: dict[str, list[SourceFile]] = defaultdict(list)
    for file in files:
        by_partition[partition_key(file.described["partitionValues"])].append(file)
    return [file for own in by_partition.values() for file in _to_merge(own, spec)]


def _to_merge(files: Sequence[SourceFile], spec: str) -> list[SourceFile]:
    passes: dict[str | None, list[SourceFile]] = defaultdict(list)
    for file in files:
        passes[file.pass_of(spec)].append(file)
    chosen = passes.pop(None, [])
    if not chosen:
        return []
    size = sum(file.size_bytes for file in chosen)
    for own in sorted(passes.values(), key=_bytes_of):
        if _bytes_of(own) > _MERGED_RATIO * size:
            break
        chosen = [*chosen, *own]
        size += _bytes_of(own)
    return chosen


def _bytes_of(files: Sequence[SourceFile]) -> int:
    return sum(file.size_bytes for file in files)


def batches(groups: Sequence[Group]) -> Iterator[list[Group]]:
    """Groups that are rewritten in one pass; one that is larger than a batch is a batch by itself."""
    batch: list[Group] = []
    for group in groups:
        is_full = len(batch) == MOST_GROUPS or sum(one.wanted for one in batch) + group.wanted > MOST_FILES
        if batch and is_full:
            yield batch
            batch = []
        batch.append(group)
    if batch:
        yield batch
