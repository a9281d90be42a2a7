"""The effects of a statement on rows of a physical table, without row events."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tidemark.capture.schema.column_form import TableForm


@dataclass(frozen=True)
class Emptied:
    """All rows of `physical` (`school.orders_0`) are deleted."""

    physical: str


@dataclass(frozen=True)
class ColumnsSet:
    """Every row of `physical` gets these values: source column -> text as the server prints it."""

    physical: str
    values: Mapping[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True)
class Unproven:
    """Rows of `physical` may have changed in an unknown way; `physical` is `school.*` if it may be any table."""

    physical: str
    reason: str


StatementEffect = Emptied | ColumnsSet | Unproven

FormOf = Callable[[str], TableForm | None]
"""The declaration of a physical table; None if unknown."""
