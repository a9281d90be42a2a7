"""A slice's key and the key of its Dagster partition: two spellings of one time.

Ours names a slice by its period (`2026-03`, `2026-03-29T03`); Dagster by its start (`2026-03-01`, `2026-03-29-03:00`).
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.slice import Slice

_FAR: Final = datetime(2199, 1, 1, tzinfo=UTC)
_CLOCK: Final = re.compile(r"^(\d{4}-\d{2}-\d{2})T(\d{2})(?::(\d{2}))?(?:([+-]\d{2}):(\d{2}))?$")
_DAGSTER_CLOCK: Final = re.compile(r"^(\d{4}-\d{2}-\d{2})-(\d{2}):(\d{2})(?:([+-]\d{2})(\d{2}))?$")


def dagster_key(period: str, key: str) -> str:
    """`2026-03-29T03` -> `2026-03-29-03:00`, `2026-10-25T02+01:00` -> `2026-10-25-02:00+0100`."""
    match period:
        case "month":
            return f"{key}-01"
        case "quarter":
            year, quarter = key.split("-Q")
            return f"{year}-{3 * int(quarter) - 2:02d}-01"
        case "year":
            return f"{key}-01-01"
        case "day" | "week":
            return key
    match = _CLOCK.match(key)
    if not match:
        raise ValueError(f"not a slice key of period {period}: {key!r}")
    date, hour, minute, *offset = match.groups()
    zone = "".join(part or "" for part in offset)
    return f"{date}-{hour}:{minute or '00'}{zone}"


def slice_key(period: str, partition: str) -> str:
    """The inverse of `dagster_key`."""
    match period:
        case "month":
            return partition[:7]
        case "quarter":
            return f"{partition[:4]}-Q{(int(partition[5:7]) + 2) // 3}"
        case "year":
            return partition[:4]
        case "day" | "week":
            return partition
    match = _DAGSTER_CLOCK.match(partition)
    if not match:
        raise ValueError(f"not a partition key of period {period}: {partition!r}")
    date, hour, minute, sign_hour, zone_minute = match.groups()
    clock = f"{date}T{hour}" if period == "hour" else f"{date}T{hour}:{minute}"
    return clock if sign_hour is None else f"{clock}{sign_hour}:{zone_minute}"


def period_of(graph: DependencyGraph, name: str) -> str:
    """The entity's period by name, as `day`."""
    return str(graph.entity(name).period)


def first_slice(graph: DependencyGraph, name: str) -> Slice:
    """The slice that holds the entity's start."""
    return next(graph.slices(name, until=_FAR))
