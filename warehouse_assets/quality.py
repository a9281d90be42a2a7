"""Quality rules of an entity as SQL over the slice that was just written (A5, C1).

All rules of a slice but `reconcile` are one aggregate query: one scan, however many rules.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dependency_model.entity.quality import AcceptedValues, NotNull, QualityRule, Reconcile, RowCount, Unique
from resources.delta.partition import quoted, sql_literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from pyspark.sql import DataFrame

    from dependency_model.slice import Slice
    from warehouse_assets.inputs import Inputs

THIS = "this_slice"


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


def run_checks(rules: Sequence[QualityRule], rows: DataFrame, inputs: Inputs, slice_: Slice) -> tuple[CheckResult, ...]:
    """Judge `rows` (the slice as written) by `rules`, in their order."""
    named = list(zip(check_names(rules), rules, strict=True))
    measures = [measure for name, rule in named if (measure := _measure(name, rule))]
    results = {result.name: result for result in _measured(rows, measures)}
    rows.createOrReplaceTempView(THIS)
    for name, rule in named:
        if isinstance(rule, Reconcile):
            results[name] = _reconciled(name, rule, inputs, slice_)
    return tuple(results[name] for name, _ in named)


def _measured(rows: DataFrame, measures: Sequence[_Measure]) -> Iterator[CheckResult]:
    if not measures:
        return
    found = rows.selectExpr(*(f"{measure.expression} AS {quoted(measure.name)}" for measure in measures)).first()
    for measure in measures:
        value = found[measure.name] if found else None
        passed, reason = measure.judge(value)
        yield CheckResult(measure.name, passed, reason, {measure.name: value})


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
