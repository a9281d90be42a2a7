"""Sub-partitions: a slice by region, business unit or partner, each filled at its own pace (seed capability C5)."""

from collections.abc import Iterator
from itertools import product
from typing import Annotated

from pydantic import BeforeValidator, Field, StringConstraints
from pydantic.dataclasses import dataclass

from tidemark.dependency_model.entity.field_types import STRICT, NameField, StartField, TimeZoneField

Sub = tuple[tuple[str, str], ...]

WHOLE: Sub = ()
"""The sub-partition of a slice without sub-partitions, and of all sub-partitions together."""

SUB_PARTITION_LIMIT = 1_000
"""The most sub-partitions of one slice."""


@dataclass(frozen=True, slots=True, config=STRICT)
class SubPartitionValue:
    """One value of a dimension. With its own time zone it has its own midnight.

    Its first slice contains `start` (default: the entity's). It is combined only with the value of another dimension
    that it is `within`: a country with its region.
    """

    time_zone: TimeZoneField | None = None
    start: StartField | None = None
    within: Annotated[str, StringConstraints(min_length=1, max_length=64)] | None = None


def _as_values(value: object) -> object:
    """A list of values, or values with settings."""
    if isinstance(value, list):
        return {name: {} for name in value}
    if isinstance(value, dict):
        return {name: settings or {} for name, settings in value.items()}
    return value


ValueField = Annotated[str, StringConstraints(min_length=1, max_length=64)]
SubPartitionValuesField = Annotated[
    dict[ValueField, SubPartitionValue], Field(min_length=1), BeforeValidator(_as_values)
]
SubPartitionsField = dict[NameField, SubPartitionValuesField]


def combinations(sub_partitions: dict[str, dict[str, SubPartitionValue]]) -> Iterator[Sub]:
    """Every sub-partition of a slice: dimensions sorted by name, values as declared, `within` respected."""
    dimensions = sorted(sub_partitions)
    around = {
        (name, value): settings.within
        for name, values in sub_partitions.items()
        for value, settings in values.items()
        if settings.within is not None
    }
    for values in product(*(sub_partitions[dimension] for dimension in dimensions)):
        sub = tuple(zip(dimensions, values, strict=True))
        if all(around.get(part) is None or around[part] in values for part in sub):
            yield sub


def finest_first(sub_partitions: dict[str, dict[str, SubPartitionValue]], sub: Sub) -> list[SubPartitionValue]:
    """The declarations of a sub-partition's values; a country comes before the region that it is within."""
    by_value = {value: sub_partitions[dimension][value] for dimension, value in sub}
    return sorted(by_value.values(), key=lambda declared: -_depth(declared, by_value))


def _depth(declared: SubPartitionValue, by_value: dict[str, SubPartitionValue]) -> int:
    depth, around = 0, declared.within
    while around in by_value and depth < len(by_value):
        depth, around = depth + 1, by_value[around].within
    return depth
