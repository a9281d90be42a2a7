"""Partitions with many small files, by the log alone. Late data usually comes in small files."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tidemark.delta.file_statistics import file_statistics

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.system.table_location import TableLocation

PartitionKey = frozenset[tuple[str, str]]


def partition_key(values: Mapping[str, object]) -> PartitionKey:
    """A partition's values as text, unordered."""
    return frozenset((name, str(value)) for name, value in values.items())


def partitions_with_small_files(path: TableLocation, at_least: int, below_bytes: float) -> set[PartitionKey]:
    """The partitions with at least `at_least` files below `below_bytes`. Raises NotADeltaTableError."""
    look = file_statistics(path)
    columns = {name: look.files[f"partition.{name}"].to_pylist() for name in look.partition_columns}
    sizes = look.files["size_bytes"].to_pylist()
    small = Counter(
        partition_key({name: values[at] for name, values in columns.items()})
        for at, size in enumerate(sizes)
        if size < below_bytes
    )
    return {key for key, count in small.items() if count >= at_least}
