"""A dependency: which slices of which entity, in which states, and how strictly."""

import re
from dataclasses import dataclass as plain_dataclass
from decimal import Decimal
from math import ceil
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, InstanceOf, model_validator
from pydantic.dataclasses import dataclass

from tidemark.dependency_model.entity.field_types import STRICT, DurationField, NameField, OffsetField

COMPLETED = "completed"
UNANNOUNCED = "unannounced"
"""A reserved state in the state store: the slice has rows that were not reported downstream."""
ASKED = "asked"
"""A reserved state in the state store: a person has to decide about a taint."""
WATERMARK_PREFIX = "watermark="
"""The beginning of a reserved state in the state store: a slice's high watermark in seconds."""

_PERCENT = re.compile(r"(\d{1,3}(?:\.\d{1,4})?)\s*%", re.ASCII)


@plain_dataclass(frozen=True, slots=True)
class AtLeast:
    """A number or a share of slices."""

    count: int | None = None
    percent: Decimal | None = None

    def required_count(self, total: int) -> int:
        """The required number out of `total` slices, at most `total`."""
        if self.count is not None:
            return min(self.count, total)
        return ceil(total * (self.percent or Decimal(0)) / 100)

    def __str__(self) -> str:
        return str(self.count) if self.count is not None else f"{self.percent}%"


def _at_least(value: object) -> object:
    if isinstance(value, AtLeast):
        return value
    match = _PERCENT.fullmatch(str(value))
    percent = Decimal(match[1]) if match else None
    if percent is not None and 0 < percent <= 100:
        return AtLeast(percent=percent)
    if str(value).isdecimal() and 0 < int(str(value)) <= 1_000_000:
        return AtLeast(count=int(str(value)))
    raise ValueError(f"expected a number of slices such as 22, or a share such as 90%, found {value!r}")


AtLeastField = Annotated[InstanceOf[AtLeast], BeforeValidator(_at_least)]


@dataclass(frozen=True, slots=True, config=STRICT)
class Weak:
    """The conditions that suffice instead of all slices. Each one releases on its own (seed capability A8)."""

    any_of: bool = False
    at_least: AtLeastField | None = None
    timeout: DurationField | None = None
    """The time after the slice's earliest start from which the present slices suffice."""

    @model_validator(mode="after")
    def _says_something(self) -> "Weak":
        if not self.any_of and self.at_least is None and self.timeout is None:
            raise ValueError("a weak dependency needs any_of, at_least or timeout")
        return self

    @property
    def quorum(self) -> AtLeast | None:
        """The number or share of slices that suffices without a timeout."""
        return AtLeast(count=1) if self.any_of else self.at_least


@dataclass(frozen=True, slots=True, config=STRICT)
class Dependency:
    """`offset` None is the natural one: all upstream slices in the window, or the one that contains the window.

    `sub` chooses sub-partitions of the upstream (dimension to values). A dimension that it does not name is matched:
    the same value if both entities have the dimension, all values if only the upstream has it.

    `beyond` asks for slices whose high watermark has passed the start or the end of the reading slice's window (seed
    capability C1). `because` says why the dependency differs from what the entity's SQL reads.
    """

    entity: NameField
    offset: OffsetField | None = None
    states: Annotated[tuple[NameField, ...], Field(min_length=1)] = (COMPLETED,)
    weak: Weak | None = None
    quality: Literal["required", "ignore"] = "required"
    sub: dict[NameField, tuple[str, ...]] | None = None
    beyond: Literal["start", "end"] | None = None
    because: str = ""

    @property
    def strength(self) -> Literal["strong", "weak"]:
        """Weak if fewer than all of its slices can suffice."""
        return "weak" if self.weak else "strong"


def _words(value: object) -> object:
    """A single name is a dependency. `dates` is seed 003's word for `offset`."""
    if isinstance(value, str):
        return {"entity": value}
    if isinstance(value, dict) and "dates" in value:
        if "offset" in value:
            raise ValueError("'dates' and 'offset' mean the same: give only one")
        return {("offset" if name == "dates" else name): given for name, given in value.items()}
    return value


DependencyField = Annotated[Dependency, BeforeValidator(_words)]
