"""Quality rules: one class a rule. YAML names a rule by its key: `not_null: [course_id]`.

A new rule is a class with a `NAME`, listed in `RULES`; its fields are validated like everything else that is declared.
"""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field, InstanceOf, model_validator
from pydantic.dataclasses import dataclass

from tidemark.dependency_model.entity.field_types import STRICT, ColumnField
from tidemark.dependency_model.suggestion import did_you_mean, quote_value
from tidemark.errors import EntityError

Columns = Annotated[tuple[ColumnField, ...], Field(min_length=1)]


@dataclass(frozen=True, slots=True, config=STRICT)
class QualityRule:
    """A rule that a slice's rows must keep."""

    NAME: ClassVar[str] = ""


@dataclass(frozen=True, slots=True, config=STRICT)
class NotNull(QualityRule):
    """No row lacks a value in these columns."""

    NAME: ClassVar[str] = "not_null"
    columns: Columns


@dataclass(frozen=True, slots=True, config=STRICT)
class Unique(QualityRule):
    """No two rows share the values of these columns."""

    NAME: ClassVar[str] = "unique"
    columns: Columns


@dataclass(frozen=True, slots=True, config=STRICT)
class RowCount(QualityRule):
    """The number of rows lies in this band."""

    NAME: ClassVar[str] = "row_count"
    min: Annotated[int, Field(ge=0)] = 0
    max: Annotated[int, Field(ge=0)] | None = None

    @model_validator(mode="after")
    def _is_a_band(self) -> "RowCount":
        if self.max is not None and self.max < self.min:
            raise ValueError(f"min {self.min} is above max {self.max}")
        return self


@dataclass(frozen=True, slots=True, config=STRICT)
class AcceptedValues(QualityRule):
    """A column holds these values only."""

    NAME: ClassVar[str] = "accepted_values"
    column: ColumnField
    values: Annotated[tuple[str | int | float | bool, ...], Field(min_length=1)]


@dataclass(frozen=True, slots=True, config=STRICT)
class Reconcile(QualityRule):
    """An expression over the slice's rows equals a query over its inputs, within a relative tolerance."""

    NAME: ClassVar[str] = "reconcile"
    value: str
    equals: str
    tolerance: Annotated[float, Field(ge=0, lt=1)] = 0.0


RULES: dict[str, type[QualityRule]] = {
    rule.NAME: rule for rule in (NotNull, Unique, RowCount, AcceptedValues, Reconcile)
}


def _rule(value: object) -> object:
    if isinstance(value, QualityRule):
        return value
    if not isinstance(value, dict) or len(value) != 1:
        raise ValueError("expected one rule, as 'not_null: [column]'")
    ((name, arguments),) = value.items()
    if name not in RULES:
        unknown = EntityError(
            "unknown quality rule",
            expected=f"one of {', '.join(RULES)}",
            found=quote_value(name),
            hint=did_you_mean(str(name), RULES),
        )
        raise ValueError(str(unknown)) from unknown
    if isinstance(arguments, list):
        return _over_columns(name, tuple(map(str, arguments)))
    if isinstance(arguments, dict):
        return RULES[name](**{str(key): given for key, given in arguments.items()})
    raise ValueError("expected a list of columns, or the rule's settings")


@lru_cache(maxsize=4096)
def _over_columns(name: str, columns: tuple[str, ...]) -> QualityRule:
    """A list is short for the rule's columns; the same rule over the same columns is one value."""
    arguments: dict[str, Any] = {"columns": columns}
    return RULES[name](**arguments)


def check_names(rules: Sequence[QualityRule]) -> tuple[str, ...]:
    """One name a rule; a second rule of the same type gets a number."""
    seen: Counter[str] = Counter()
    names = []
    for rule in rules:
        seen[rule.NAME] += 1
        names.append(rule.NAME if seen[rule.NAME] == 1 else f"{rule.NAME}_{seen[rule.NAME]}")
    return tuple(names)


QualityField = Annotated[InstanceOf[QualityRule], BeforeValidator(_rule)]
