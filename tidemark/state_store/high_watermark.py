"""The high watermark of a slice, from the reported watermarks of its sources."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from tidemark.dependency_model.time.window import seconds_of

if TYPE_CHECKING:
    from collections.abc import Mapping


def high_watermark(watermarks: Mapping[str, Any]) -> int | None:
    """The earliest of the watermarks that are times with a zone, in seconds; None without any.

    All changes of all sources before it are in the slice. Offsets and other values are not times.
    """
    times = [instant for value in watermarks.values() if (instant := _instant(value)) is not None]
    return min(map(seconds_of, times), default=None)


def _instant(value: object) -> datetime | None:
    try:
        instant = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return instant if instant is not None and instant.tzinfo is not None else None
