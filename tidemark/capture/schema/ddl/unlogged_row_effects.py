"""What a statement does to the rows of a physical table that no row event tells of."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tidemark.capture.schema.column_form import TableForm


@dataclass(frozen=True)
class Emptied:
    """All rows of `physical` (`school.orders_0`) are gone."""

    physical: str


@dataclass(frozen=True)
class ColumnsSet:
    """Every row of `physical` has these values from now on: the source's column -> text as the server prints it."""

    physical: str
    values: Mapping[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True)
class Unproven:
    """Rows of `physical` may be others now, nobody knows which; `physical` is `school.*` where it may be any."""

    physical: str
    reason: str


StatementEffect = Emptied | ColumnsSet | Unproven

FormOf = Callable[[str], TableForm | None]
"""How a physical table was declared; None where nobody said it."""
