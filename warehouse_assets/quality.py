"""Quality rules of an entity as SQL over the slice that was just written (A5, C1).

All rules of a slice but `reconcile` are one aggregate query: one scan, however many rules.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from dependency_model.entity.quality import AcceptedValues, NotNull, QualityRule, Reconcile, RowCount, Unique
from resources.delta.identifiers import quoted, sql_literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pyspark.sql import DataFrame

    from dependency_model.slice import Slice
    from warehouse_assets.inputs import Inputs

THIS: Final = "this_slice"
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
    """A check that needs one aggregate expression."""

    name: str
    expression: str
    judge: Callable[[Any], tuple[bool, str]]


def check_names(rules: Sequence[QualityRule]) -> tuple[str, ...]:
    """One name a rule; a second rule of the same type gets a number."""
    seen: Counter[str] = Counter()
    names = []
    for rule in rules:
        seen[rule.NAME] += 1
        names.append(rule.NAME if seen[rule.NAME] == 1 else f"{rule.NAME}_{seen[rule.NAME]}")
    return tuple(names)


@dataclass(frozen=True)
class Audit:
    """What one look at a slice's rows tells; `event_times` are the least and greatest time in them, as text."""

    checks: tuple[CheckResult, ...]
    event_times: tuple[str, str] | None


def audit(rules: Sequence[QualityRule], rows: DataFrame, inputs: Inputs, slice_: Slice) -> Audit:
    """Judge `rows` by `rules`, in their order, and find the times they span."""
    named = list(zip(check_names(rules), rules, strict=True))
    measures = [measure for name, rule in named if (measure := _measure(name, rule))]
    times = [name for name, kind in rows.dtypes if kind in _TIME_TYPES]
    found = _measured(rows, measures, times)
    results = {one.name: _judged(one, found[one.name]) for one in measures}
    for name, rule in named:
        if isinstance(rule, Reconcile):
            rows.createOrReplaceTempView(THIS)
            results[name] = _reconciled(name, rule, inputs, slice_)
    spanned = [found[f"{end} {name}"] for name in times for end in _ENDS if found[f"{end} {name}"] is not None]
    return Audit(tuple(results[name] for name, _ in named), (min(spanned), max(spanned)) if spanned else None)


def _measured(rows: DataFrame, measures: Sequence[_Measure], times: Sequence[str]) -> dict[str, Any]:
    """One scan of the rows: the figure of each rule, and both ends of each column of times."""
    expressions = [f"{one.expression} AS {quoted(one.name)}" for one in measures]
    expressions += [
        f"CAST({end}({quoted(name)}) AS STRING) AS {quoted(f'{end} {name}')}" for name in times for end in _ENDS
    ]
    found = rows.selectExpr(*expressions).first() if expressions else None
    return found.asDict() if found else {}


def _judged(measure: _Measure, value: Any) -> CheckResult:
    passed, reason = measure.judge(value)
    return CheckResult(measure.name, passed, reason, {measure.name: value})


def _measure(name: str, rule: QualityRule) -> _Measure | None:
    match rule:
        case NotNull(columns=columns):
            nulls = _count_if(" OR ".join(f"{quoted(column)} IS NULL" for column in columns))
            return _Measure(name, nulls, _none(f"with NULL in {_list(columns)}"))
        case Unique(columns=columns):
            distinct = f"count(*) - count(DISTINCT struct({', '.join(quoted(column) for column in columns)}))"
            return _Measure(name, distinct, _none(f"with a key ({_list(columns)}) seen before"))
        case RowCount(min=low, max=high):
            return _Measure(name, "count(*)", _within(low, high))
        case AcceptedValues(column=column, values=values):
            accepted = ", ".join(sql_literal(str(value)) for value in values)
            outside = _count_if(f"CAST({quoted(column)} AS STRING) NOT IN ({accepted})")
            return _Measure(name, outside, _none(f"with {column} outside of {_list(values)}"))
        case _:
            return None


def _reconciled(name: str, rule: Reconcile, inputs: Inputs, slice_: Slice) -> CheckResult:
    """Two ways to one figure: from the slice, and from what it was made of. NULL (the sum of no rows) equals NULL."""
    ours = inputs.sql(f"SELECT {rule.value} FROM {THIS}", slice_).first()  # noqa: S608 - the rule is the entity's own SQL
    theirs = inputs.sql(rule.equals, slice_).first()
    mine, other = (ours[0] if ours else None), (theirs[0] if theirs else None)
    passed = mine == other or _near(mine, other, rule.tolerance)
    reason = f"{rule.value} is {mine}" + ("" if passed else f", the source says {other}")
    return CheckResult(name, passed, reason, {"value": mine, "source": other})


def _near(mine: Any, other: Any, tolerance: float) -> bool:
    if not tolerance or mine is None or other is None:
        return False
    return abs(float(mine) - float(other)) <= tolerance * abs(float(other))


def _count_if(condition: str) -> str:
    return f"count_if({condition})"


def _none(what: str) -> Callable[[Any], tuple[bool, str]]:
    return lambda count: (count == 0, f"{count} rows {what}")


def _within(low: int, high: int | None) -> Callable[[Any], tuple[bool, str]]:
    band = f"at least {low}" if high is None else f"{low} to {high}"
    return lambda count: (count >= low and (high is None or count <= high), f"{count} rows, expected {band}")


def _list(values: Iterable[object]) -> str:
    return ", ".join(str(value) for value in values)
