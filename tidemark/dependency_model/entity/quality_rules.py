"""Quality rules, one class each. YAML names a rule by its key: `not_null: [course_id]`.

A new rule is a class with a `NAME` that is listed in `RULES`. Its fields are validated like all declared values. A rule
about single rows (`OF_ROWS`) can quarantine the rows that break it.
"""

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import BeforeValidator, Field, InstanceOf, StringConstraints, model_validator
from pydantic.dataclasses import dataclass

from tidemark.dependency_model.entity.field_types import STRICT, ColumnField, DurationField, NameField
from tidemark.dependency_model.suggestion import did_you_mean, quote_value
from tidemark.errors import EntityError

Columns = Annotated[tuple[ColumnField, ...], Field(min_length=1)]
Severity = Literal["block", "warn"]
SqlField = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]
Bound = int | float | str
Accepted = str | int | float | bool
Share = Annotated[float, Field(gt=0)]
SLICE_ROWS = "slice_rows"
"""The name of the slice's rows in a rule's query."""
# Errors that Java's regular expressions have, too. A pattern that only Python refuses is accepted.
_NO_PATTERN = re.compile(r"unterminated|unbalanced|missing|nothing to repeat|multiple repeat")


@dataclass(frozen=True, slots=True, config=STRICT)
class QualityRule:
    """A rule for all rows of a slice, or for the rows that fulfil `where` (an SQL condition).

    A broken rule blocks the slice; with the severity `warn` it is only reported. `quarantine` keeps the rows that break
    it, with the rule's name.
    """

    NAME: ClassVar[str] = ""
    OF_ROWS: ClassVar[bool] = False
    HAS_WHERE: ClassVar[bool] = True
    severity: Severity = Field(default="block", kw_only=True)
    where: SqlField | None = Field(default=None, kw_only=True)
    quarantine: bool = Field(default=False, kw_only=True)

    @model_validator(mode="after")
    def _check_common_keys(self) -> "QualityRule":
        if self.quarantine and not self.OF_ROWS:
            raise ValueError(f"{self.NAME} does not check single rows, so it cannot quarantine rows")
        if self.where is not None and not self.HAS_WHERE:
            raise ValueError(f"{self.NAME} has no where: write the condition into its SQL")
        return self


@dataclass(frozen=True, slots=True, config=STRICT)
class NotNull(QualityRule):
    """These columns are not NULL in any row."""

    NAME: ClassVar[str] = "not_null"
    OF_ROWS: ClassVar[bool] = True
    columns: Columns


@dataclass(frozen=True, slots=True, config=STRICT)
class Unique(QualityRule):
    """No two rows share the values of these columns."""

    NAME: ClassVar[str] = "unique"
    OF_ROWS: ClassVar[bool] = True
    columns: Columns


@dataclass(frozen=True, slots=True, config=STRICT)
class RowCount(QualityRule):
    """The number of rows is within limits and close to that of other slices.

    `growth` is the largest change relative to the previous slice. `same_weekday` is the largest change relative to the
    median of the same time one to four weeks before. Both are shares. Missing slices are left out.
    """

    NAME: ClassVar[str] = "row_count"
    min: Annotated[int, Field(ge=0)] = 0
    max: Annotated[int, Field(ge=0)] | None = None
    growth: Share | None = None
    same_weekday: Share | None = None

    @property
    def looks_back(self) -> bool:
        """Whether other slices are counted, too."""
        return self.growth is not None or self.same_weekday is not None

    @model_validator(mode="after")
    def _is_a_band(self) -> "RowCount":
        if self.max is not None and self.max < self.min:
            raise ValueError(f"min {self.min} is above max {self.max}")
        if self.looks_back and self.where is not None:
            raise ValueError("row_count compares whole slices: growth and same_weekday cannot have where")
        return self


@dataclass(frozen=True, slots=True, config=STRICT)
class AcceptedValues(QualityRule):
    """A column has only these values, compared as by SQL's IN: 10 equals 10.00. NULL passes.

    If one of them is a text, all are texts, and SQL compares other types with texts.
    """

    NAME: ClassVar[str] = "accepted_values"
    OF_ROWS: ClassVar[bool] = True
    column: ColumnField
    values: Annotated[tuple[Accepted, ...], Field(min_length=1)]


@dataclass(frozen=True, slots=True, config=STRICT)
class WithinRange(QualityRule):
    """A column is between two bounds (inclusive): numbers, or dates and times as text. NULL passes."""

    NAME: ClassVar[str] = "range"
    OF_ROWS: ClassVar[bool] = True
    column: ColumnField
    min: Bound | None = None
    max: Bound | None = None

    @model_validator(mode="after")
    def _has_bounds(self) -> "WithinRange":
        low, high = self.min, self.max
        if low is None and high is None:
            raise ValueError("range needs min, max or both")
        if low is not None and high is not None:
            if isinstance(low, str) != isinstance(high, str):
                raise ValueError(f"min {low!r} and max {high!r} are of different types")
            if low > high:  # type: ignore[operator]
                raise ValueError(f"min {low} is above max {high}")
        return self


@dataclass(frozen=True, slots=True, config=STRICT)
class Pattern(QualityRule):
    """A regular expression is found in each text of a column; `^` and `$` anchor it. NULL passes."""

    NAME: ClassVar[str] = "pattern"
    OF_ROWS: ClassVar[bool] = True
    column: ColumnField
    matches: SqlField

    @model_validator(mode="after")
    def _is_a_pattern(self) -> "Pattern":
        try:
            re.compile(self.matches)
        except re.error as error:
            if _NO_PATTERN.search(error.msg):
                raise ValueError(f"{self.matches!r} is not a regular expression: {error}") from error
        return self


@dataclass(frozen=True, slots=True, config=STRICT)
class Referential(QualityRule):
    """Each row's columns exist as `key` of another entity, in the slices that this slice reads. NULL passes."""

    NAME: ClassVar[str] = "referential"
    OF_ROWS: ClassVar[bool] = True
    columns: Columns
    entity: NameField
    key: tuple[ColumnField, ...] = ()

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns of the other entity, by default with the same names."""
        return self.key or self.columns

    @model_validator(mode="after")
    def _has_a_key(self) -> "Referential":
        if len(self.keys) != len(self.columns):
            raise ValueError(f"{len(self.columns)} columns cannot be a key of {len(self.keys)}")
        return self


@dataclass(frozen=True, slots=True, config=STRICT)
class Freshness(QualityRule):
    """The newest time of a column is at most `within` before the slice's end.

    A time without a zone (TIMESTAMP_NTZ, DATE, a text) is on the entity's clock.
    """

    NAME: ClassVar[str] = "freshness"
    column: ColumnField
    within: DurationField


@dataclass(frozen=True, slots=True, config=STRICT)
class Drift(QualityRule):
    """The distance of a column's distribution from that of other slices is at most `at_most` (0 to 1), beyond chance.

    The other slices are those of the same weekday in the four weeks before. With weeks and longer periods they are the
    four slices before.
    """

    NAME: ClassVar[str] = "drift"
    HAS_WHERE: ClassVar[bool] = False
    column: ColumnField
    at_most: Annotated[float, Field(gt=0, lt=1)] = 0.1


@dataclass(frozen=True, slots=True, config=STRICT)
class Expression(QualityRule):
    """An SQL condition holds for each row. NULL passes, as in a CHECK constraint."""

    NAME: ClassVar[str] = "expression"
    OF_ROWS: ClassVar[bool] = True
    holds: SqlField


@dataclass(frozen=True, slots=True, config=STRICT)
class NoRows(QualityRule):
    """A query over `slice_rows` (the slice's rows) and its inputs returns no rows."""

    NAME: ClassVar[str] = "query"
    HAS_WHERE: ClassVar[bool] = False
    no_rows: SqlField


@dataclass(frozen=True, slots=True, config=STRICT)
class Reconcile(QualityRule):
    """An expression over the slice's rows equals a query over its inputs, within a relative tolerance.

    Spark compares them: NULL equals NULL, and NaN equals NaN.
    """

    NAME: ClassVar[str] = "reconcile"
    HAS_WHERE: ClassVar[bool] = False
    value: SqlField
    equals: SqlField
    tolerance: Annotated[float, Field(ge=0, lt=1)] = 0.0


RULES: dict[str, type[QualityRule]] = {
    rule.NAME: rule
    for rule in (
        NotNull,
        Unique,
        AcceptedValues,
        WithinRange,
        Pattern,
        Expression,
        Referential,
        RowCount,
        Freshness,
        Drift,
        Reconcile,
        NoRows,
    )
}


_OF_NO_CLOCK: Final = (NotNull, Unique, RowCount, Pattern, Referential, Drift)


def goes_by_clock(rule: QualityRule) -> bool:
    """Whether the result of a rule may depend on the clock."""
    return rule.where is not None or not isinstance(rule, _OF_NO_CLOCK)


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
    """The rule for a list of columns. Cached: equal rules share one value."""
    arguments: dict[str, Any] = {"columns": columns}
    return RULES[name](**arguments)


def check_names(rules: Sequence[QualityRule]) -> tuple[str, ...]:
    """A unique name for each rule; repeated types get a number."""
    seen: Counter[str] = Counter()
    names = []
    for rule in rules:
        seen[rule.NAME] += 1
        names.append(rule.NAME if seen[rule.NAME] == 1 else f"{rule.NAME}_{seen[rule.NAME]}")
    return tuple(names)


QualityField = Annotated[InstanceOf[QualityRule], BeforeValidator(_rule)]
