"""The times at which assets were wiped. The default storage has no events of it for a cursor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import dagster as dg

if TYPE_CHECKING:
    from collections.abc import Sequence

_AT_ONCE: Final = 500


def wipe_times(instance: dg.DagsterInstance, assets: Sequence[str]) -> dict[str, float]:
    """The time of each asset's last wipe, in epoch seconds; assets that were never wiped are missing."""
    storage: Any = instance.event_log_storage
    wiped: dict[str, float] = {}
    for start in range(0, len(assets), _AT_ONCE):
        some = assets[start : start + _AT_ONCE]
        all_details = storage._get_assets_details([dg.AssetKey([name]) for name in some])  # noqa: SLF001 - no public way
        for name, details in zip(some, all_details, strict=True):
            if details is not None and details.last_wipe_timestamp:
                wiped[name] = details.last_wipe_timestamp
    return wiped
