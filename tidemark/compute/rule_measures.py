"""Rules with one figure of a slice's rows: each is an aggregate expression, so that all need one scan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from tidemark.dependency_model.entity.quality_rules import (
    Accepted,
    AcceptedValues,
    Expression,
    Freshness,
    NotNull,
    Pattern,
    QualityRule,
    Reconcile,
    RowCount,
    Unique,
    WithinRange,
)
from tidemark.dependency_model.time.window import nearest_instant
from tidemark.quoting.spark import quote, sql_literal, text_literal, typed_literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from tidemark.compute.rule_surroundings import Surroundings
    from tidemark.dependency_model.slice import Slice


class Judgement(NamedTuple):
    """Whether a rule holds, with the expected and actual values, and with figures if there is more than one."""

    passed: bool
    reason: str
    figures: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Measure:
    """The aggregate expression of a rule; `judge` decides from its value whether the rule holds for a slice."""

    name: str
    expression: str
    judge: Callable[[Any, Slice, Surroundings], Judgement]
    of_no_rows: Any = 0


def measure(name: str, rule: QualityRule) -> Measure | None:
    """The measure of a rule in the scan of all rules; None for a rule with its own query."""
    condition = breaking_condition(rule)
    if condition is not None:
        return Measure(name, f"count_if({_and(rule.where, condition)})", _none(words(rule)))
    match rule:
        case Unique(columns=columns):
            key = f"struct({', '.join(map(quote, columns))})"
            keys = key if rule.where is None else f"CASE WHEN {rule.where} THEN {key} END"
            return Measure(name, f"{_count(rule)} - count(DISTINCT {keys})", _none(words(rule)))
        case RowCount():
            return Measure(name, _count(rule), lambda count, slice_, around: _counted(rule, count, slice_, around))
        case Freshness(column=column):
            at = f"CAST({quote(column)} AS TIMESTAMP)"
            micros = f"unix_micros(max({at if rule.where is None else f'CASE WHEN {rule.where} THEN {at} END'}))"
            return Measure(name, micros, lambda at, slice_, around: _fresh(rule, at, slice_, around), None)
        case Reconcile(value=value):
            return Measure(
                name, _typed(value), lambda mine, slice_, around: _reconciled(rule, mine, slice_, around), None
            )
    return None


def breaking_condition(rule: QualityRule) -> str | None:
    """The SQL condition of a row that breaks the rule, without `where`; None if a single row does not decide."""
    match rule:
        case NotNull(columns=columns):
            return " OR ".join(f"{quote(column)} IS NULL" for column in columns)
        case AcceptedValues(column=column, values=values):
            return f"{quote(column)} NOT IN ({', '.join(map(sql_literal, of_one_type(values)))})"
        case WithinRange(column=column, min=low, max=high):
            ends = ((low, "<"), (high, ">"))
            return " OR ".join(f"{quote(column)} {sign} {sql_literal(end)}" for end, sign in ends if end is not None)
        case Pattern(column=column, matches=pattern):
            return f"NOT (CAST({quote(column)} AS STRING) RLIKE {text_literal(pattern)})"
        case Expression(holds=condition):
            return f"NOT ({condition})"
    return None


def _and(where: str | None, condition: str) -> str:
    return condition if where is None else f"({where}) AND ({condition})"


def _count(rule: QualityRule) -> str:
    return "count(*)" if rule.where is None else f"count_if({rule.where})"


def of_one_type(values: Sequence[Accepted]) -> tuple[Accepted, ...]:
    """Values as SQL compares a column with them: if one is a text, all become texts in YAML's form."""
    if not any(isinstance(value, str) for value in values):
        return tuple(values)
    return tuple(str(value).lower() if isinstance(value, bool) else str(value) for value in values)


def words(rule: QualityRule) -> str:
    """The fault of rows that break a rule of rows, or `unique`: `with NULL in a, b`."""
    match rule:
        case NotNull(columns=columns):
            return f"with NULL in {listed(columns)}"
        case Unique(columns=columns):
            return f"with a key ({listed(columns)}) seen before"
        case AcceptedValues(column=column, values=values):
            return f"with {column} outside of {listed(values)}"
        case WithinRange(column=column, min=low, max=high):
            return f"with {column} outside of {'...' if low is None else low} to {'...' if high is None else high}"
        case Pattern(column=column, matches=pattern):
            return f"with {column} that does not match {pattern}"
        case Expression(holds=condition):
            return f"for which {condition} does not hold"
    raise TypeError(f"no words for the quality rule {rule!r}")


def _none(what: str) -> Callable[[Any, Slice, Surroundings], Judgement]:
    return lambda count, _slice, _around: Judgement(count == 0, f"{count} rows {what}")


def _counted(rule: RowCount, count: int, slice_: Slice, around: Surroundings) -> Judgement:
    """Checks the limits and then other slices; the first failure is the reason."""
    band = f"at least {rule.min}" if rule.max is None else f"{rule.min} to {rule.max}"
    if count < rule.min or (rule.max is not None and count > rule.max):
        return Judgement(passed=False, reason=f"{count} rows, expected {band}")
    told = f"{count} rows, expected {band}"
    for share, what, other in (
        (rule.growth, "the slice before", lambda: around.rows_before(slice_)),
        (rule.same_weekday, "the same weekday", lambda: around.rows_of_same_weekday(slice_)),
    ):
        if share is None:
            continue
        expected = other()
        if expected is None:
            told += f"; there are no rows of {what} to compare with"
            continue
        if abs(count - expected) > share * expected:
            reason = f"{count} rows, {what} has {expected:g}: expected {share:.0%} more or less"
            return Judgement(passed=False, reason=reason)
        told += f"; {what} has {expected:g}"
    return Judgement(passed=True, reason=told)


def _fresh(rule: Freshness, at: int | None, slice_: Slice, around: Surroundings) -> Judgement:
    if at is None:
        return Judgement(passed=False, reason=f"no row has a value in {rule.column}")
    newest = nearest_instant(at)
    age = around.end_of(slice_) - newest
    expected = f"expected at most {rule.within} before the slice's end"
    return Judgement(age <= rule.within, f"the newest {rule.column} is {newest:%Y-%m-%d %H:%M:%S} UTC, {expected}")


def _typed(value: str) -> str:
    """An expression's value with its text and type, from which Spark makes the same value again."""
    text = f"CASE WHEN typeof({value}) = 'binary' THEN hex({value}) ELSE CAST({value} AS STRING) END"
    return f"named_struct('value', {value}, 'text', {text}, 'type', typeof({value}))"


def _reconciled(rule: Reconcile, mine: Any, slice_: Slice, around: Surroundings) -> Judgement:
    """Spark compares a figure of the slice with one of its inputs: NaN equals NaN.

    NULL (the sum of no rows) equals NULL.
    """
    around.inputs.register(slice_)
    other = around.inputs.sql(rule.equals, slice_).limit(1)
    own = "NULL" if mine is None else _literal(mine)
    row = other.toDF(*map(str, range(len(other.columns)))).selectExpr("`0`", f"`0` <=> {own}").first()
    value, source = (None if mine is None else mine["value"]), (row[0] if row else None)
    passed = (row[1] if row else value is None) or _near(value, source, rule.tolerance)
    reason = f"{rule.value} is {value}" + ("" if passed else f", the source says {source}")
    return Judgement(passed, reason, {"value": value, "source": source})


def _literal(typed: Any) -> str:
    """A value of `_typed` as SQL."""
    if typed["type"] == "binary":
        return "NULL" if typed["text"] is None else f"X'{typed['text']}'"
    return typed_literal(typed["text"], typed["type"])


def _near(mine: Any, other: Any, tolerance: float) -> bool:
    if not tolerance or mine is None or other is None:
        return False
    return abs(float(mine) - float(other)) <= tolerance * abs(float(other))


def listed(values: Iterable[object]) -> str:
    """`a, b`."""
    return ", ".join(str(value) for value in values)
