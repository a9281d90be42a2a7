"""Dagster's own active backfills, and their partitions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from dagster._core.execution.backfill import BulkActionsFilter, BulkActionStatus

if TYPE_CHECKING:
    from collections.abc import Iterator

    import dagster as dg
    from dagster._core.execution.backfill import PartitionBackfill

__all__ = ["BACKFILL_TAG", "OpenBackfill", "open_backfill_ids", "open_backfills"]

BACKFILL_TAG: Final = "dagster/backfill"

_OPEN: Final = [
    status
    for name in ("REQUESTED", "CANCELING", "FAILING")
    if (status := getattr(BulkActionStatus, name, None)) is not None
]
_MOST: Final = 100


class OpenBackfill(NamedTuple):
    """`targets` are assets with a partition, or None for an asset without partitions."""

    backfill_id: str
    targets: tuple[tuple[dg.AssetKey, str | None], ...]


def open_backfills(instance: dg.DagsterInstance) -> list[OpenBackfill]:
    """The newest hundred asset backfills that have not ended."""
    stored = instance.get_backfills(filters=BulkActionsFilter(statuses=_OPEN), limit=_MOST)
    return [OpenBackfill(backfill.backfill_id, tuple(_targets(backfill))) for backfill in stored]


def open_backfill_ids(instance: dg.DagsterInstance) -> frozenset[str]:
    """The ids of all backfills that have not ended."""
    return frozenset(stored.backfill_id for stored in instance.get_backfills(BulkActionsFilter(statuses=_OPEN)))


def _targets(backfill: PartitionBackfill) -> Iterator[tuple[dg.AssetKey, str | None]]:
    if backfill.asset_backfill_data is not None:
        for target in backfill.asset_backfill_data.target_subset.iterate_asset_partitions():
            yield target.asset_key, target.partition_key
