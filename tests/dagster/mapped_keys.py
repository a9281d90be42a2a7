"""What Dagster itself makes of a partition mapping."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    import dagster as dg


def mapped_keys(
    mapping: dg.PartitionMapping | None,
    down: dg.PartitionsDefinition[str],
    up: dg.PartitionsDefinition[str],
    key: str,
    now: datetime,
) -> list[str]:
    """The upstream partitions of one downstream partition at a time."""
    assert mapping is not None
    subset = down.empty_subset().with_partition_keys([key])
    mapped = mapping.get_upstream_mapped_partitions_result_for_partitions(subset, down, up, current_time=now)
    return list(mapped.partitions_subset.get_partition_keys())
