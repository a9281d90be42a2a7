"""The declared settings of profiles: which columns they have, and the effect of an anomaly."""

from enum import Enum
from typing import Annotated

from pydantic import BeforeValidator, Field, model_validator
from pydantic.dataclasses import dataclass

from tidemark.dependency_model.entity.field_types import STRICT, ColumnField

_OFF = "off"


class Anomalies(Enum):
    """The policy for a slice with an unusual profile."""

    OFF = "off"
    WARN = "warn"
    BLOCK = "block"


@dataclass(frozen=True, slots=True, config=STRICT)
class ProfileSettings:
    """The profiled columns: the first `max_columns` of `columns`, or of all except `exclude`.

    `off` is short for no columns: then not even rows are counted.
    """

    columns: tuple[ColumnField, ...] = ()
    exclude: tuple[ColumnField, ...] = ()
    max_columns: Annotated[int, Field(ge=0, le=256)] = 32

    @model_validator(mode="after")
    def _check(self) -> "ProfileSettings":
        both = sorted(set(self.columns) & set(self.exclude))
        if both:
            raise ValueError(f"{', '.join(both)} both in columns and in exclude")
        return self

    @property
    def is_off(self) -> bool:
        """Whether nothing is measured."""
        return self.max_columns == 0

    def of(self, columns: tuple[str, ...]) -> tuple[str, ...]:
        """The profiled columns of a table, in the table's order."""
        wanted = [name for name in columns if name not in self.exclude and (not self.columns or name in self.columns)]
        return tuple(wanted[: self.max_columns])


def _off(given: object) -> object:
    return ProfileSettings(max_columns=0) if given == _OFF else given


ProfileField = Annotated[ProfileSettings | None, BeforeValidator(_off)]
"""`off`, or the columns."""
