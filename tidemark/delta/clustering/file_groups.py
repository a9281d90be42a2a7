"""Groups of files that are clustered together: the files of one partition, or of a table without partitions."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tidemark.delta.clustering.clusterable_columns import ClusterColumn
from tidemark.delta.clustering.files_to_recluster import FileKeyRanges, spans_of
from tidemark.delta.live_file import LiveFile
from tidemark.strict_json import json_text

CLUSTERED = "tidemark.clustered"
# Limits of a pass, so that the driver's work is bounded: output files, and partitions.
MOST_FILES, MOST_GROUPS = 512, 64
# A pass rewrites at most this multiple of the new data from earlier passes, so each row only a few times.
_MERGED_RATIO = 2.0


def visible_bytes(file: LiveFile) -> int:
    """The share of a file's bytes whose rows are not hidden."""
    if not file.hidden_rows or not file.rows:
        return file.size_bytes
    return round(file.size_bytes * file.rows / (file.rows + file.hidden_rows))


def pass_of(file: LiveFile, spec: str) -> str | None:
    """The pass that wrote a file by the same columns and weights; None if there was none."""
    by, _, number = (file.described.get("tags") or {}).get(CLUSTERED, "").rpartition("#")
    return number if number and by == spec else None


@dataclass(frozen=True)
class FileGroup:
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
    return json_text(partition, sort_keys=True)


def groups_of(files: Iterable[LiveFile], target_bytes: int) -> list[FileGroup]:
    """The files by partition, without partitions that gain nothing: one small file without hidden rows."""
    by_partition: dict[str, list[LiveFile]] = defaultdict(list)
    for file in files:
        by_partition[partition_key(file.described["partitionValues"])].append(file)
    groups = []
    for key in sorted(by_partition):
        own = by_partition[key]
        wanted = max(1, round(_bytes_of(own) / target_bytes))
        if len(own) > 1 or wanted > 1 or own[0].hidden_rows:
            groups.append(FileGroup(own[0].described["partitionValues"], tuple(own), wanted))
    return groups


def files_to_cluster(
    files: Sequence[LiveFile], spec: str, columns: Sequence[ClusterColumn], target_bytes: int
) -> list[LiveFile]:
    """The files that no pass with that spec wrote, and files of earlier passes that overlap them badly.

    The work is proportional to the new data. A filter has to look into a number of passes that grows with the logarithm
    of the table's size, like the tiers of a log-structured merge tree.
    """
    by_partition: dict[str, list[LiveFile]] = defaultdict(list)
    for file in files:
        by_partition[partition_key(file.described["partitionValues"])].append(file)
    return [file for own in by_partition.values() for file in _to_merge(own, spec, columns, target_bytes)]


def _to_merge(
    files: Sequence[LiveFile], spec: str, columns: Sequence[ClusterColumn], target_bytes: int
) -> list[LiveFile]:
    passes: dict[str | None, list[int]] = defaultdict(list)
    for at, file in enumerate(files):
        passes[pass_of(file, spec)].append(at)
    chosen = passes.pop(None, [])
    if chosen and passes:
        sizes = [visible_bytes(file) for file in files]
        ranges = FileKeyRanges.of(sizes, [spans_of(files, column) for column in columns])
        for own in sorted(passes.values(), key=lambda own: sum(sizes[at] for at in own)):
            chosen = [*chosen, *_of_pass(ranges, chosen, own, target_bytes)]
    return [files[at] for at in chosen]


def _of_pass(ranges: FileKeyRanges, chosen: Sequence[int], own: Sequence[int], target_bytes: int) -> list[int]:
    """The files of an earlier pass to cluster again.

    From a pass that is not much larger than `chosen`: files that overlap it, and small files. From a larger one: files
    that are not much larger than the data that came into their bounds.
    """
    if ranges.sizes[list(own)].sum() > _MERGED_RATIO * ranges.sizes[list(chosen)].sum():
        return ranges.badly_overlapped(chosen, own, _MERGED_RATIO)
    inside = ranges.bytes_inside(chosen, own)
    return [at for at, here in zip(own, inside, strict=True) if here or ranges.sizes[at] < target_bytes / 2]


def _bytes_of(files: Sequence[LiveFile]) -> int:
    return sum(map(visible_bytes, files))


def batches(groups: Sequence[FileGroup]) -> Iterator[list[FileGroup]]:
    """Groups for one pass each. A group that is larger than a batch is a batch by itself."""
    batch: list[FileGroup] = []
    for group in groups:
        is_full = len(batch) == MOST_GROUPS or sum(member.wanted for member in batch) + group.wanted > MOST_FILES
        if batch and is_full:
            yield batch
            batch = []
        batch.append(group)
    if batch:
        yield batch
