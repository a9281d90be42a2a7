"""Sub-partitions: a slice by region, business unit or partner, each filled at its own pace.

Source: seed capability C5.
"""

from collections.abc import Iterator
from itertools import product
from typing import Annotated

from pydantic import BeforeValidator, Field, StringConstraints
from pydantic.dataclasses import dataclass

from tidemark.dependency_model.entity.field_types import STRICT, NameField, TimeZoneField

Sub = tuple[tuple[str, str], ...]

WHOLE: Sub = ()
"""The sub-partition of a slice without sub-partitions, and of all of them together."""

SUB_PARTITION_LIMIT = 1_000
"""How many sub-partitions one slice may have."""


@dataclass(frozen=True, slots=True, config=STRICT)
class SubPartitionValue:
    """One value of a dimension; its own time zone gives it its own midnight."""

    time_zone: TimeZoneField | None = None


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
    """Every sub-partition of a slice, dimensions in order of name, values as declared."""
    dimensions = sorted(sub_partitions)
    for values in product(*(sub_partitions[dimension] for dimension in dimensions)):
        yield tuple(zip(dimensions, values, strict=True))
