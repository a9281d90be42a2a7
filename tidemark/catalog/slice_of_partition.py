"""The slice of a partition of a computed table: the inverse of the partition columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.dependency_model.slice import STATIC_KEY, Slice
from tidemark.dependency_model.time.partition_columns import partition_columns
from tidemark.warehouse.dagster_partition_keys import slice_key

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.dependency_model.entity import Entity


def slice_of_partition(entity: Entity, values: Mapping[str, str | None]) -> Slice | None:
    """The slice of a partition's values in the log; None if they do not belong to the entity."""
    times = partition_columns(entity.period)
    names = (*times, *sorted(entity.sub_partitions))
    texts = {name: text for name, text in values.items() if text}
    if set(texts) != set(names) or len(values) != len(names):
        return None
    sub = tuple((name, texts[name]) for name in sorted(entity.sub_partitions))
    if entity.period is None:
        return Slice(entity.name, STATIC_KEY, sub)
    key = _key(str(entity.period), [texts[name] for name in times])
    return Slice(entity.name, key, sub)


def _key(period: str, times: list[str]) -> str:
    """`2026-03-29`, `02+01:00`, `30` -> `2026-03-29T02:30+01:00`."""
    match times:
        case [day, hour, minute]:
            return f"{day}T{hour[:2]}:{minute}{hour[2:]}"
        case [day, hour]:
            return f"{day}T{hour}"
        case [day]:
            return slice_key(period, day)
    raise ValueError(f"no partition columns: {times}")
