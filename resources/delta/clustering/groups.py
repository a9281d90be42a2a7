"""Which files are clustered together: those of one partition, of the whole table where it has none."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from resources.delta.live_file import LiveFile

CLUSTERED = "tidemark.clustered"
# A pass makes at most so many files of so many partitions: what the driver plans at a time is bounded.
MOST_FILES, MOST_GROUPS = 512, 64
# Earlier passes over less than this many times the new data are clustered again with it: each row a few times at most.
_MERGED_RATIO = 2.0


def visible_bytes(file: LiveFile) -> int:
    """The share of a file's bytes that is not hidden."""
    if not file.hidden or not file.rows:
        return file.size_bytes
    return round(file.size_bytes * file.rows / (file.rows + file.hidden))


def pass_of(file: LiveFile, spec: str) -> str | None:
    """The pass that wrote a file by the same columns and weights; None where none did."""
    by, _, number = (file.described.get("tags") or {}).get(CLUSTERED, "").rpartition("#")
    return number if number and by == spec else None


@dataclass(frozen=True)
class Group:
    """Files of one partition (column -> value as text) that become `wanted` files."""

    partition: Mapping[str, str | None]
    files: tuple[LiveFile, ...]
    wanted: int

    @property
    def key(self) -> str:
        return partition_key(self.partition)

    @property
    def size_bytes(self) -> int:
        return _bytes_of(self.files)


def partition_key(partition: Mapping[str, str | None]) -> str:
    return json.dumps(partition, sort_keys=True)


def groups_of(files: Iterable[LiveFile], target_bytes: int) -> list[Group]:
    """The files by partition; a partition of one small file without hidden rows has nothing to gain."""
    by_partition: dict[str, list[LiveFile]] = defaultdict(list)
    for file in files:
        by_partition[partition_key(file.described["partitionValues"])].append(file)
    found = []
    for key in sorted(by_partition):
        own = by_partition[key]
        wanted = max(1, round(_bytes_of(own) / target_bytes))
        if len(own) > 1 or wanted > 1 or own[0].hidden:
            found.append(Group(own[0].described["partitionValues"], tuple(own), wanted))
    return found


def not_clustered(files: Sequence[LiveFile], spec: str) -> list[LiveFile]:
    """The files that no pass by `spec` wrote, and those of earlier passes that are small beside them.

    Work is proportional to the new data, and the number of passes that a filter has to look into to the logarithm of
    the table's size (the tiers of a log-structured merge tree).
    """
    by_partition: dict[str, list[LiveFile]] = defaultdict(list)
    for file in files:
        by_partition[partition_key(file.described["partitionValues"])].append(file)
    return [file for own in by_partition.values() for file in _to_merge(own, spec)]


def _to_merge(files: Sequence[LiveFile], spec: str) -> list[LiveFile]:
    passes: dict[str | None, list[LiveFile]] = defaultdict(list)
    for file in files:
        passes[pass_of(file, spec)].append(file)
    chosen = passes.pop(None, [])
    if not chosen:
        return []
    size = _bytes_of(chosen)
    for own in sorted(passes.values(), key=_bytes_of):
        if _bytes_of(own) > _MERGED_RATIO * size:
            break
        chosen = [*chosen, *own]
        size += _bytes_of(own)
    return chosen


def _bytes_of(files: Sequence[LiveFile]) -> int:
    return sum(map(visible_bytes, files))


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
