"""A slice and its Dagster partition: two forms of one time and one sub-partition.

Tidemark names a slice by its period (`2026-03`, `2026-03-29T03`), Dagster by its start (`2026-03-01`,
`2026-03-29-03:00`). A sub-partition is a second dimension in Dagster; the keys are in the order of the dimensions'
names (`2026-03-29|cn`). A static slice has no partition.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.slice import STATIC_KEY, Slice

if TYPE_CHECKING:
    from tidemark.dependency_model.entity import Entity
    from tidemark.dependency_model.entity.sub_partition import Sub
    from tidemark.dependency_model.graph import DependencyGraph

TIME_DIMENSION: Final = "dt"
"""The time dimension of Dagster's partitions with two dimensions."""

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


def part_dimension(entity: Entity) -> str:
    """The name of the second dimension: the sub-partition's dimensions, joined."""
    return "_".join(sorted(entity.sub_partitions))


def part_key(sub: Sub) -> str:
    """`cn`, or `cn,acme` for a slice with several dimensions."""
    return ",".join(value for _, value in sub)


def partition_of(entity: Entity, slice_: Slice) -> str | None:
    """The key of a slice's Dagster partition; None for a static slice."""
    if entity.period is None:
        return None
    time = dagster_key(str(entity.period), slice_.key)
    if not slice_.sub:
        return time
    dimensions = {TIME_DIMENSION: time, part_dimension(entity): part_key(slice_.sub)}
    return "|".join(dimensions[name] for name in sorted(dimensions))


def slice_of(entity: Entity, partition: str | None) -> Slice:
    """The slice of an entity's Dagster partition. Raises ValueError for an invalid key."""
    if entity.period is None or partition is None:
        return Slice(entity.name, STATIC_KEY)
    if not entity.sub_partitions:
        return Slice(entity.name, slice_key(str(entity.period), partition))
    names = sorted((TIME_DIMENSION, part_dimension(entity)))
    keys = dict(zip(names, partition.split("|"), strict=True))
    values = keys[part_dimension(entity)].split(",")
    sub = tuple(zip(sorted(entity.sub_partitions), values, strict=True))
    return Slice(entity.name, slice_key(str(entity.period), keys[TIME_DIMENSION]), sub)


def period_of(graph: DependencyGraph, name: str) -> str:
    """The entity's period as text, such as `day`."""
    return str(graph.entity(name).period)


def first_slice(graph: DependencyGraph, name: str) -> Slice:
    """The slice that contains the entity's start."""
    return next(graph.slices(name, until=_FAR))
