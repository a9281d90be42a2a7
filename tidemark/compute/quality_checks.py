"""Quality rules of an entity as SQL over the files of a slice, before they are the table's (A5, C1).

All rules of all slices of a run are one aggregate query: one scan, however many rules. A reconciliation adds the query
that it compares with.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql import functions as sf

from tidemark.dependency_model.entity.quality_rules import (
    AcceptedValues,
    NotNull,
    QualityRule,
    Reconcile,
    RowCount,
    Unique,
    check_names,
)
from tidemark.quoting.spark import quote, sql_literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pyspark.sql import DataFrame

    from tidemark.compute.input_views import Inputs
    from tidemark.dependency_model.slice import Slice

_TIME_TYPES: Final = ("timestamp", "timestamp_ntz")
_ENDS: Final = ("min", "max")


@dataclass(frozen=True)
class CheckResult:
    """One rule's verdict on one slice; `reason` says what was expected and found, `figures` are what was measured."""

    name: str
    passed: bool
    reason: str
    figures: Mapping[str, Any]


@dataclass(frozen=True)
class _Measure:
    """The aggregate expression that a check needs; `equals` is the query that a reconciliation compares it with."""

    name: str
    expression: str
    judge: Callable[[Any], tuple[bool, str]]
    of_no_rows: Any = 0
    equals: str | None = None
    tolerance: float = 0.0


@dataclass(frozen=True)
class Audit:
    """What one look at a slice's rows tells; `event_times` are the least and greatest time in them, as text."""

    checks: tuple[CheckResult, ...]
    event_times: tuple[str, str] | None

    @property
    def blocks(self) -> bool:
        """Whether the rows must not be published."""
        return bool(self.broken)

    @property
    def broken(self) -> dict[str, str]:
        """Why not: the reason by rule."""
        return {check.name: check.reason for check in self.checks if not check.passed}


def audit(
    rules: Sequence[QualityRule], rows: DataFrame, slices: Mapping[tuple[Any, ...], Slice], inputs: Inputs
) -> dict[Slice, Audit]:
    """Judge the rows of slices by `rules`, in their order, and find the times that they span, in one scan.

    `slices` are by the values of the partition columns, which are the last columns of `rows`.
    """
    measures = [_measure(name, rule) for name, rule in zip(check_names(rules), rules, strict=True)]
    partition = rows.columns[len(rows.columns) - len(next(iter(slices))) :]
    times = [name for name, kind in rows.dtypes if kind in _TIME_TYPES and name not in partition]
    figures = _measure_rows(rows, measures, times, partition)
    return {
        slice_: _audit_slice(measures, times, figures.get(key, {}), slice_, inputs) for key, slice_ in slices.items()
    }


def _measure_rows(
    rows: DataFrame, measures: Sequence[_Measure], times: Sequence[str], partition: Sequence[str]
) -> dict[tuple[Any, ...], dict[str, Any]]:
    """By partition: the figure of each rule, and both ends of each column of times."""
    expressions = [f"{measure.expression} AS {quote(measure.name)}" for measure in measures]
    expressions += [
        f"CAST({end}({quote(name)}) AS STRING) AS {quote(f'{end} {name}')}" for name in times for end in _ENDS
    ]
    if not expressions:
        return {}
    aggregated = rows.groupBy(*partition).agg(*map(sf.expr, expressions)).collect()
    return {tuple(row[name] for name in partition): row.asDict() for row in aggregated}


def _audit_slice(
    measures: Sequence[_Measure], times: Sequence[str], figures: Mapping[str, Any], slice_: Slice, inputs: Inputs
) -> Audit:
    checks = tuple(
        _judge(measure, figures.get(measure.name, measure.of_no_rows), slice_, inputs) for measure in measures
    )
    ends = [figures.get(f"{end} {name}") for name in times for end in _ENDS]
    spanned = [end for end in ends if end is not None]
    return Audit(checks, (min(spanned), max(spanned)) if spanned else None)


def _judge(measure: _Measure, value: Any, slice_: Slice, inputs: Inputs) -> CheckResult:
    if measure.equals is not None:
        return _reconcile(measure, value, slice_, inputs)
    passed, reason = measure.judge(value)
    return CheckResult(measure.name, passed, reason, {measure.name: value})


def _reconcile(measure: _Measure, mine: Any, slice_: Slice, inputs: Inputs) -> CheckResult:
    """Two ways to one figure: from the slice, and from what it was made of. NULL (the sum of no rows) equals NULL."""
    inputs.register(slice_)
    row = inputs.sql(measure.equals or "", slice_).first()
    other = row[0] if row else None
    passed = mine == other or _near(mine, other, measure.tolerance)
    reason = f"{measure.expression} is {mine}" + ("" if passed else f", the source says {other}")
    return CheckResult(measure.name, passed, reason, {"value": mine, "source": other})


def _near(mine: Any, other: Any, tolerance: float) -> bool:
    if not tolerance or mine is None or other is None:
        return False
    return abs(float(mine) - float(other)) <= tolerance * abs(float(other))


def _measure(name: str, rule: QualityRule) -> _Measure:
    match rule:
        case NotNull(columns=columns):
            nulls = _count_if(" OR ".join(f"{quote(column)} IS NULL" for column in columns))
            return _Measure(name, nulls, _none(f"with NULL in {_list(columns)}"))
        case Unique(columns=columns):
            distinct = f"count(*) - count(DISTINCT struct({', '.join(quote(column) for column in columns)}))"
            return _Measure(name, distinct, _none(f"with a key ({_list(columns)}) seen before"))
        case RowCount(min=low, max=high):
            return _Measure(name, "count(*)", _within(low, high))
        case AcceptedValues(column=column, values=values):
            accepted = ", ".join(sql_literal(str(value)) for value in values)
            outside = _count_if(f"CAST({quote(column)} AS STRING) NOT IN ({accepted})")
            return _Measure(name, outside, _none(f"with {column} outside of {_list(values)}"))
        case Reconcile(value=value, equals=equals, tolerance=tolerance):
            return _Measure(name, value, _none(""), None, equals, tolerance)
        case _:
            raise TypeError(f"no measure for the quality rule {rule!r}")


def _count_if(condition: str) -> str:
    return f"count_if({condition})"


def _none(what: str) -> Callable[[Any], tuple[bool, str]]:
    return lambda count: (count == 0, f"{count} rows {what}")


def _within(low: int, high: int | None) -> Callable[[Any], tuple[bool, str]]:
    band = f"at least {low}" if high is None else f"{low} to {high}"
    return lambda count: (count >= low and (high is None or count <= high), f"{count} rows, expected {band}")


def _list(values: Iterable[object]) -> str:
    return ", ".join(str(value) for value in values)
