"""Binds an expression of a plan. An unknown one stays opaque and is never guessed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.lineage import three_valued_logic as logic
from tidemark.dependency_model.lineage.bound_expression import (
    AGGREGATE,
    WINDOW,
    Bound,
    Call,
    Literal,
    Opaque,
    joined,
)
from tidemark.dependency_model.lineage.sqlglot_expressions import CLOCK
from tidemark.dependency_model.lineage.value_range import Range, Special, Type, exact_number, point
from tidemark.dependency_model.time.date_grid import day_of
from tidemark.errors import ParseError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tidemark.dependency_model.lineage.spark_plan.plan_tree import PlanNode

_DAY_MICROS: Final = 86_400_000_000
_CASTS: Final = {
    "date": "to_date",
    "timestamp": "to_timestamp",
    "string": "concat",
    "byte": "cast_to_tinyint",
    "short": "cast_to_smallint",
    "integer": "cast_to_int",
    "long": "cast_to_bigint",
}
_WORD: Final = re.compile(r"(.)\1*", re.DOTALL)
_PATTERN: Final = {
    "yyyy": "%Y",
    "MM": "%mstrict",
    "dd": "%dstrict",
    "HH": "%Hstrict",
    "mm": "%Mstrict",
    "ss": "%Sstrict",
}
_CLOCKS: Final = {"CurrentDate", "CurrentTimestamp", "Now", "LocalTimestamp", "CurDateExpressionBuilder"}


def bind_expression(node: PlanNode, scope: Mapping[str, Bound]) -> Bound:
    """The bound expression; `scope` has the attributes by their identity."""
    rule = _RULES.get(node.name)
    if rule is not None:
        return rule(node, scope)
    name = _CALLS.get(node.name)
    return Call(name, _all(node, scope)) if name else _opaque(node, scope)


def _all(node: PlanNode, scope: Mapping[str, Bound]) -> tuple[Bound, ...]:
    return tuple(bind_expression(child, scope) for child in node.children)


def _opaque(node: PlanNode, scope: Mapping[str, Bound]) -> Bound:
    why = CLOCK if node.name in _CLOCKS else _WHY.get(node.name, f"Spark's {node.name} is not known")
    of_data = node.name in _OF_DATA or node.name in _CLOCKS
    return Opaque(_all(node, scope), why, of_data=of_data)


def _attribute(node: PlanNode, scope: Mapping[str, Bound]) -> Bound:
    return scope.get(node.identity, Opaque())


def _same(node: PlanNode, scope: Mapping[str, Bound]) -> Bound:
    """A node that stands for its only child."""
    return bind_expression(node.children[0], scope) if len(node.children) == 1 else _opaque(node, scope)


def _literal(node: PlanNode, _: Mapping[str, Bound]) -> Bound:
    value, of = node.fields.get("value"), str(node.fields.get("dataType"))
    if value is None:
        return Literal(Special.NULL)
    try:
        return _value(str(value), of)
    except (ValueError, ParseError):
        return Opaque()


def _value(text: str, of: str) -> Bound:
    if of == "timestamp":  # its text is in the session's time zone
        return Call("to_timestamp", (Literal(point(Type.STRING, text)),))
    if of == "boolean":
        return Literal(logic.TRUE if text == "true" else logic.FALSE)
    read = next((read for prefix, read in _TYPES.items() if of.startswith(prefix)), None)
    return Literal(read(text)) if read else Opaque()


_TYPES: Final[dict[str, Callable[[str], Range]]] = {
    "date": lambda text: point(Type.DATE, day_of(text)),
    "string": lambda text: point(Type.STRING, text),
    **dict.fromkeys(("byte", "short", "integer", "long", "float", "double", "decimal"), exact_number),
    **dict.fromkeys(("interval year", "interval month"), lambda text: point(Type.INTERVAL, (int(text), 0))),
    "interval ": lambda text: point(Type.INTERVAL, (0, int(text))),
}
"""Literals by the beginning of their type; intervals in months or microseconds."""


def _swap(name: str) -> Callable[[PlanNode, Mapping[str, Bound]], Bound]:
    return lambda node, scope: Call(name, tuple(reversed(_all(node, scope))))


def _cast(node: PlanNode, scope: Mapping[str, Bound]) -> Bound:
    (value,), to = _all(node, scope), str(node.fields.get("dataType"))
    name = _CASTS.get(to)
    if name is not None:
        return Call(name, (value,))
    return Opaque((value,), f"a cast to {to} is not known", of_data=False)


def _in(node: PlanNode, scope: Mapping[str, Bound]) -> Bound:
    wanted, *options = _all(node, scope)
    if not options:
        return Opaque((wanted,))
    return joined("or", [Call("=", (wanted, option)) for option in options])


def _case(node: PlanNode, scope: Mapping[str, Bound]) -> Bound:
    parts = _all(node, scope)
    return Call("case", parts if len(parts) % 2 else (*parts, Literal(Special.NULL)))


def _subtracted_days(node: PlanNode, scope: Mapping[str, Bound]) -> Bound:
    start, count = _all(node, scope)
    return Call("date_add", (start, Call("negative", (count,))))


def _negative(node: PlanNode, scope: Mapping[str, Bound]) -> Bound:
    (value,) = _all(node, scope)
    if isinstance(value, Literal) and isinstance(value.value, Range) and value.value.type is Type.INTERVAL:
        months, micros = value.value.low
        return Literal(point(Type.INTERVAL, (-months, -micros)))
    return Call("negative", (value,))


def _days(node: PlanNode, scope: Mapping[str, Bound]) -> Bound:
    """`ExtractANSIIntervalDays`: the days of an interval."""
    (value,) = _all(node, scope)
    if isinstance(value, Literal) and isinstance(value.value, Range) and value.value.type is Type.INTERVAL:
        return Literal(point(Type.NUMBER, value.value.low[1] // _DAY_MICROS))
    return Opaque((value,))


def _pattern(value: Bound) -> Bound:
    """A date pattern in the form of strftime, as queries have it; opaque if it is unknown."""
    if not isinstance(value, Literal) or not isinstance(value.value, Range):
        return Opaque()
    words = [match[0] for match in _WORD.finditer(str(value.value.low))]
    if any(word not in _PATTERN and (word[0].isalpha() or word[0] in "%'") for word in words):
        return Opaque((), f"the pattern {value.value.low} is not known")
    return Literal(point(Type.STRING, "".join(_PATTERN.get(word, word) for word in words)))


def _with_pattern(name: str) -> Callable[[PlanNode, Mapping[str, Bound]], Bound]:
    def rule(node: PlanNode, scope: Mapping[str, Bound]) -> Bound:
        value, *pattern = _all(node, scope)
        patterns = [_pattern(literal) for literal in pattern]
        opaque = next((pattern for pattern in patterns if isinstance(pattern, Opaque)), None)
        return Opaque((value,), opaque.why, of_data=False) if opaque else Call(name, (value, *patterns))

    return rule


def _timestamp(node: PlanNode, scope: Mapping[str, Bound]) -> Bound:
    return Call("to_timestamp", _all(node, scope)) if len(node.children) == 1 else _opaque(node, scope)


_WHY: Final = {
    "AggregateExpression": AGGREGATE,
    "WindowExpression": WINDOW,
    "ScalarSubquery": "a value that the data decides",
    "PythonUDF": "a Python function of rows",
}
_OF_DATA: Final = {"AggregateExpression", "WindowExpression", "ScalarSubquery", "Exists", "InSubquery", "ListQuery"}
_CALLS: Final = {
    "And": "and",
    "Or": "or",
    "Not": "not",
    "EqualTo": "=",
    "LessThan": "<",
    "LessThanOrEqual": "<=",
    "EqualNullSafe": "<=>",
    "IsNull": "is_null",
    "Add": "+",
    "Subtract": "-",
    "Multiply": "*",
    "Divide": "/",
    "IntegralDivide": "div",
    "Remainder": "%",
    "Pmod": "pmod",
    "Abs": "abs",
    "DateAdd": "date_add",
    "DateAddInterval": "+",
    "DateAddYMInterval": "+",
    "TimeAdd": "+",
    "TimestampAddInterval": "+",
    "TimestampAddYMInterval": "+",
    "AddMonths": "add_months",
    "LastDay": "last_day",
    "NextDay": "next_day",
    "DateDiff": "datediff",
    "TruncDate": "trunc",
    "MakeDate": "make_date",
    "MakeInterval": "make_interval",
    "UnixDate": "unix_date",
    "DateFromUnixDate": "date_from_unix_date",
    "Year": "year",
    "Quarter": "quarter",
    "Month": "month",
    "DayOfMonth": "day",
    "DayOfWeek": "dayofweek",
    "WeekDay": "weekday",
    "DayOfYear": "dayofyear",
    "WeekOfYear": "weekofyear",
    "Hour": "hour",
    "Minute": "minute",
    "Concat": "concat",
    "ConcatWs": "concat_ws",
    "Substring": "substring",
    "Upper": "upper",
    "Lower": "lower",
    "Length": "length",
    "Coalesce": "coalesce",
    "Greatest": "greatest",
    "Least": "least",
    "If": "case",
}
_RULES: Final[dict[str, Callable[[PlanNode, Mapping[str, Bound]], Bound]]] = {
    "AttributeReference": _attribute,
    "Literal": _literal,
    "GreaterThan": _swap("<"),
    "GreaterThanOrEqual": _swap("<="),
    "TruncTimestamp": _swap("date_trunc"),
    "IsNotNull": lambda node, scope: Call("not", (Call("is_null", _all(node, scope)),)),
    "Cast": _cast,
    "In": _in,
    "CaseWhen": _case,
    "DateSub": _subtracted_days,
    "UnaryMinus": _negative,
    "ExtractANSIIntervalDays": _days,
    "DateFormatClass": _with_pattern("date_format"),
    "ParseToDate": _with_pattern("to_date"),
    "ParseToTimestamp": _timestamp,
    # These stand for another expression, which is their only child.
    **dict.fromkeys(("Alias", "Between", "DatetimeSub", "Nvl", "Nvl2", "NullIf", "Left", "Right", "Extract"), _same),
}
