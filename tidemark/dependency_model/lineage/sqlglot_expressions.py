"""Binds sqlglot's tree of one expression. An unknown expression stays opaque and is never guessed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, Protocol

from sqlglot import exp

from tidemark.dependency_model.lineage import three_valued_logic as logic
from tidemark.dependency_model.lineage.bound_expression import (
    AGGREGATE,
    WINDOW,
    Bound,
    Call,
    Element,
    Literal,
    Opaque,
    Parameter,
    field_of,
    joined,
    walk,
)
from tidemark.dependency_model.lineage.functions.calendar_arithmetic import (
    DATE_UNITS,
    INSTANT_UNITS,
    INTERVAL_UNITS,
    STEP_UNITS,
)
from tidemark.dependency_model.lineage.functions.formats import FORMATS
from tidemark.dependency_model.lineage.functions.instants import LENGTHS
from tidemark.dependency_model.lineage.parsed_query import QueryPart
from tidemark.dependency_model.lineage.value_range import Range, Special, Type, exact_number, point

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tidemark.dependency_model.lineage.scope import Scope

LISTS: Final = (exp.GenerateSeries, exp.Array)
"""The known lists of which `explode` makes rows."""
CLOCK: Final = "the clock of the run is not business time: use :biz_date, :period_start or :period_end"
"""The reason why `now()` is not evaluated."""
_CLOCKS: Final = {"now", "curdate", "current_date", "current_timestamp", "localtimestamp"}
_TYPES: Final = {
    "DATE": "to_date",
    "TIMESTAMP": "to_timestamp",
    "TIMESTAMPTZ": "to_timestamp",
    "TIMESTAMPLTZ": "to_timestamp",
    "INT": "cast_to_int",
    "BIGINT": "cast_to_bigint",
    "SMALLINT": "cast_to_smallint",
    "TINYINT": "cast_to_tinyint",
}
_UNIT_FIRST: Final = re.compile(r"^\w+\s*\(\s*['\"]?(\w+)['\"]?\s*,")
_UNIT_LAST: Final = re.compile(r",\s*['\"](\w+)['\"]\s*\)$")
_SPREAD: Final = 32
"""The most parts that one spread adds: CTEs that each repeat a text double its parts."""
_PATTERN_LAST: Final = re.compile(r""",\s*(?:'((?:[^']|'')*)'|"([^"]*)")\s*\)$""")
_QUOTED: Final = re.compile(r"'[^']*'")
_NO_LETTERS: Final = frozenset("YWwuecABnNp")
"""Letters of weeks and their years (INCONSISTENT_BEHAVIOR_CROSS_VERSION.DATETIME_PATTERN_RECOGNITION), and unknown
ones."""
_TEXTS: Final = {"TEXT", "VARCHAR", "CHAR"}


class SubQueries(Protocol):
    """Binds queries inside an expression."""

    def exists(self, node: exp.Expr, scope: Scope) -> Bound: ...

    def contains(self, wanted: Sequence[Bound], node: exp.Expr, scope: Scope) -> Bound: ...

    def scalar(self, node: exp.Expr, scope: Scope) -> Bound: ...


class Translator:
    """Translates expressions of one SELECT."""

    def __init__(self, scope: Scope, sub_queries: SubQueries) -> None:
        self.scope = scope
        self._sub_queries = sub_queries

    def bind(self, node: Any) -> Bound:
        """The bound expression. Raises QueryError for a missing column."""
        bound = self._bind(node)
        return Call("not", (bound,)) if node.args.get("negate") else bound

    def _bind(self, node: Any) -> Bound:
        rule = _RULES.get(node.key)
        if rule is not None:
            bound = rule(self, node)
            if isinstance(bound, Call) and bound.origin is None:
                return Call(bound.name, bound.arguments, QueryPart(self.scope.query, node))
            return bound
        simple = _SIMPLE.get(node.key)
        if simple is not None:
            name, parts = simple
            arguments = (self.bind(node.args[part]) for part in parts if node.args.get(part) is not None)
            return Call(name, tuple(arguments), QueryPart(self.scope.query, node))
        return self.opaque(node)

    def opaque(self, node: exp.Expr, why: str = "") -> Opaque:
        """An expression that cannot be evaluated, with all columns that it uses."""
        parts = tuple(self._parts(node))
        of_data = isinstance(node, exp.AggFunc) or why == CLOCK
        if not why and isinstance(node, exp.Func):
            why = AGGREGATE if of_data else f"the function {_name_of(node)} is not known"
        return Opaque(parts, why, self.scope.query.place_of(node), of_data=of_data)

    def element(self, node: Any) -> Element:
        """A value of `sequence(first, last, step)` or `array(a, b)`."""
        if isinstance(node, exp.Array):  # an empty one makes no rows: the same as an unknown one
            return Element(Call("array", self.all_of(node.expressions), QueryPart(self.scope.query, node)))
        ends = self.bind(node.args["start"]), self.bind(node.args["end"])
        origin, step = QueryPart(self.scope.query, node), node.args.get("step")
        if step is None:
            return Element(Call("sequence", ends, origin))
        by = self.bind(step)
        return Element(Call("sequence" if _is_of_days(by) else "sequence_by", (*ends, by), origin))

    def _parts(self, node: exp.Expr) -> list[Bound]:
        bound_here = {name.name.lower() for function in node.find_all(exp.Lambda) for name in function.expressions}
        bounds: list[Bound] = []
        for child in node.iter_expressions():
            if isinstance(child, exp.Query):
                bounds.append(self._sub_queries.scalar(child, self.scope))
            elif isinstance(child, (exp.Column, exp.Subquery, exp.Exists, exp.In)):
                if not (isinstance(child, exp.Column) and not child.table and child.name.lower() in bound_here):
                    bounds.append(self.bind(child))
            elif not isinstance(child, (exp.Identifier, exp.DataType)):
                bounds += self._parts(child)
        return bounds

    def all_of(self, nodes: list[Any]) -> tuple[Bound, ...]:
        """Several expressions."""
        return tuple(self.bind(node) for node in nodes)


def _is_of_days(step: Bound) -> bool:
    """Whether a step treats all days alike: it has no months."""
    value = step.value if isinstance(step, Literal) else None
    return isinstance(value, Range) and (value.type is Type.NUMBER or value.low[0] == 0)


def _name_of(node: exp.Func) -> str:
    return str(node.this) if isinstance(node, exp.Anonymous) else node.sql_name().lower()


def _number(value: int) -> Bound:
    return Literal(point(Type.NUMBER, value))


def _text(value: str) -> Bound:
    return Literal(point(Type.STRING, value))


def _literal(_: Translator, node: Any) -> Bound:
    if node.is_string:
        return _text(node.this)
    try:
        return Literal(exact_number(node.this))
    except ValueError:
        return Opaque()


def _column(translator: Translator, node: Any) -> Bound:
    if isinstance(node.this, exp.Star):
        return Opaque()
    return translator.scope.column(node)


def _call(name: str, *parts: str) -> Callable[[Translator, Any], Bound]:
    """A function of the tree's parts; lists are spread."""

    def rule(translator: Translator, node: Any) -> Bound:
        arguments: list[Bound] = []
        for part in parts:
            value = node.args.get(part)
            if isinstance(value, list):
                arguments += translator.all_of(value)
            elif value is not None:
                arguments.append(translator.bind(value))
        return Call(name, tuple(arguments))

    return rule


def _negate(rule: Callable[[Translator, Any], Bound]) -> Callable[[Translator, Any], Bound]:
    return lambda translator, node: Call("not", (rule(translator, node),))


def _swap(name: str) -> Callable[[Translator, Any], Bound]:
    return lambda translator, node: Call(name, (translator.bind(node.expression), translator.bind(node.this)))


def _between(translator: Translator, node: Any) -> Bound:
    value, low, high = (translator.bind(node.args[part]) for part in ("this", "low", "high"))
    return Call("and", (Call("<=", (low, value)), Call("<=", (value, high))))


def _in(translator: Translator, node: Any) -> Bound:
    inner = node.args.get("query")
    if inner is not None:
        of_row = translator.all_of(node.this.expressions if isinstance(node.this, exp.Tuple) else [node.this])
        return translator._sub_queries.contains(of_row, inner, translator.scope)  # noqa: SLF001 - a rule of the class
    if not node.expressions or node.args.get("unnest") or node.args.get("field"):
        return translator.opaque(node, "this IN is not known")
    if isinstance(node.this, exp.Tuple):
        return _in_tuples(translator, node)
    wanted = translator.bind(node.this)
    return _any_of([Call("=", (wanted, option)) for option in translator.all_of(node.expressions)])


def _in_tuples(translator: Translator, node: Any) -> Bound:
    """`(a, b) IN ((1, 2), (3, 4))`."""
    wanted, options = translator.all_of(node.this.expressions), [option.unnest() for option in node.expressions]
    if any(not isinstance(option, exp.Tuple) or len(option.expressions) != len(wanted) for option in options):
        return translator.opaque(node, "this IN is not known")
    rows: list[Bound] = []
    for option in options:
        pairs = zip(wanted, translator.all_of(option.expressions), strict=True)
        rows.append(all_hold([Call("=", pair) for pair in pairs]))
    return _any_of(rows)


def all_hold(conditions: Sequence[Bound]) -> Bound:
    """One or more conditions joined by AND."""
    return joined("and", conditions)


def _any_of(conditions: Sequence[Bound]) -> Bound:
    return joined("or", conditions)


def chained(node: Any, kind: type[exp.Expression]) -> list[Any]:
    """The operands of a chain such as `a OR b OR c`, which the parser has in pairs."""
    operands: list[Any] = []
    stack = [node]
    while stack:
        part = stack.pop().unnest()
        if type(part) is kind and not part.args.get("negate"):
            stack += [part.expression, part.this]
        else:
            operands.append(part)
    return operands


def _logic(name: str, kind: type[exp.Expression]) -> Callable[[Translator, Any], Bound]:
    return lambda translator, node: Call(name, translator.all_of(chained(node, kind)))


def _is(translator: Translator, node: Any) -> Bound:
    value = translator.bind(node.this)
    match node.expression:
        case exp.Null():
            return Call("is_null", (value,))
        case exp.Boolean() as wanted:
            return Call("is_true", (value if wanted.this else Call("not", (value,)),))
    return translator.opaque(node, "this IS is not known")


def _case(translator: Translator, node: Any) -> Bound:
    subject = translator.bind(node.this) if node.this is not None else None
    arguments: list[Bound] = []
    for branch in node.args["ifs"]:
        condition = translator.bind(branch.this)
        arguments.append(condition if subject is None else Call("=", (subject, condition)))
        arguments.append(translator.bind(branch.args["true"]))
    default = node.args.get("default")
    arguments.append(translator.bind(default) if default is not None else Literal(Special.NULL))
    return Call("case", tuple(arguments))


def _if(translator: Translator, node: Any) -> Bound:
    otherwise = node.args.get("false")
    return Call(
        "case",
        (
            translator.bind(node.this),
            translator.bind(node.args["true"]),
            translator.bind(otherwise) if otherwise is not None else Literal(Special.NULL),
        ),
    )


def _nvl2(translator: Translator, node: Any) -> Bound:
    is_null = Call("is_null", (translator.bind(node.this),))
    false = node.args.get("false")
    return Call(
        "case",
        (
            is_null,
            translator.bind(false) if false is not None else Literal(Special.NULL),
            translator.bind(node.args["true"]),
        ),
    )


def _cast(translator: Translator, node: Any) -> Bound:
    value, to = translator.bind(node.this), node.to.this.name
    if to in _TYPES:
        return Call(_TYPES[to], (value,))
    return Call("concat", (value,)) if to in _TEXTS else translator.opaque(node, f"a cast to {to.lower()} is not known")


def _interval(translator: Translator, node: Any) -> Bound:
    unit = INTERVAL_UNITS.get(str(node.text("unit")).upper())
    try:
        count = int(str(node.this.this) if isinstance(node.this, exp.Literal) else "")
    except ValueError:
        unit = None
    if unit is None:
        return translator.opaque(node, "this interval is not known")
    months = {"year": 12, "month": 1}.get(unit, 0)
    seconds = {"week": 604_800, "day": 86_400, "hour": 3600, "minute": 60, "second": 1}.get(unit, 0)
    return Literal(point(Type.INTERVAL, (months * count, seconds * count * 1_000_000)))


def _add_days(translator: Translator, node: Any) -> Bound:
    """`date_add`, `date_sub`: sqlglot's TsOrDsAdd."""
    start, count = translator.bind(node.this), translator.bind(node.expression)
    unit = str(node.text("unit") or "DAY").upper()
    return Call("date_add", (start, count)) if unit == "DAY" else Call("add_unit", (start, count, _text(unit)))


def _add_unit(translator: Translator, node: Any) -> Bound:
    """`timestampadd(UNIT, count, start)`, `dateadd`."""
    parts = translator.bind(node.this), translator.bind(node.expression)
    return _with_written_unit(translator, node, _UNIT_FIRST, STEP_UNITS, lambda unit: Call("add_unit", (*parts, unit)))


def _trunc(translator: Translator, node: Any) -> Bound:
    """`trunc(date, 'UNIT')`."""
    value = translator.bind(node.this)
    return _with_written_unit(translator, node, _UNIT_LAST, DATE_UNITS, lambda unit: Call("trunc", (value, unit)))


def _date_trunc(translator: Translator, node: Any) -> Bound:
    """`date_trunc('UNIT', instant)`."""
    value = translator.bind(node.this)
    return _with_written_unit(
        translator, node, _UNIT_FIRST, INSTANT_UNITS, lambda unit: Call("date_trunc", (value, unit))
    )


def _with_written_unit(
    translator: Translator,
    node: Any,
    place: re.Pattern[str],
    names: Mapping[str, str],
    call: Callable[[Literal], Bound],
) -> Bound:
    """A call with the unit as written: sqlglot replaces units that Spark does not have."""
    match = place.search(translator.scope.query.text_of(node))
    if match is None:
        return translator.opaque(node, "a unit that is no constant")
    unit = match[1].upper()
    if unit not in names:
        return translator.opaque(node, f"Spark has no unit {match[1]} here, but {', '.join(names).lower()}")
    return call(Literal(point(Type.STRING, unit)))


def _with_pattern(name: str) -> Callable[[Translator, Any], Bound]:
    def rule(translator: Translator, node: Any) -> Bound:
        pattern = node.args.get("format")
        if refused := _refused_letters(translator, node):
            return translator.opaque(node, refused)
        if isinstance(pattern, exp.Literal) and pattern.this not in FORMATS:
            return translator.opaque(node, f"the pattern of {name} is not known")
        return _call(name, "this", "format")(translator, node)

    return rule


def _refused_letters(translator: Translator, node: Any) -> str:
    """The reason why Spark refuses a pattern: sqlglot reads `YYYY`, years of weeks, as `yyyy`."""
    written = _PATTERN_LAST.search(translator.scope.query.text_of(node))
    pattern = "" if written is None else written[2] if written[1] is None else written[1].replace("''", "'")
    letters = [letter for letter in _QUOTED.sub("", pattern) if letter in _NO_LETTERS]
    return f"Spark has no letter {letters[0]} in patterns: {pattern}" if letters else ""


def _timestampdiff(translator: Translator, node: Any) -> Bound:
    """`timestampdiff(UNIT, start, end)`: sqlglot has the end first."""
    return _passed(translator, node, node.expression, node.this)


def _passed(translator: Translator, node: Any, start: Any, end: Any) -> Bound:
    def passed(unit: Literal) -> Bound:
        name = "whole_units_between" if str(node.text("unit")).upper() in LENGTHS else "whole_months_between"
        return Call(name, (unit, translator.bind(start), translator.bind(end)))

    return _with_written_unit(translator, node, _UNIT_FIRST, STEP_UNITS, passed)


def _decode(translator: Translator, node: Any) -> Bound:
    """`decode(x, a, value, b, value, ..., default)`: NULL is equal to NULL."""
    subject, *rest = translator.all_of(node.expressions)
    branches = list(zip(rest[::2], rest[1::2], strict=False))
    arguments = [part for wanted, value in branches for part in (Call("<=>", (subject, wanted)), value)]
    return Call("case", (*arguments, rest[-1] if len(rest) % 2 else Literal(Special.NULL)))


def _element_at(translator: Translator, node: Any) -> Bound:
    """`split(text, pattern)[0]`; other lists are unknown."""
    if not isinstance(node.this, exp.RegexpSplit) or len(node.expressions) != 1:
        return translator.opaque(node, "an element of a list")
    text, pattern = translator.bind(node.this.this), translator.bind(node.this.expression)
    place = translator.bind(node.expressions[0])
    first = int(node.args.get("offset") or 0)
    return Call("split_at", (text, pattern, Call("-", (place, _number(first))) if first else place))


def _exploded(translator: Translator, node: Any) -> Bound:
    """`explode(sequence(first, last, step))` or of `array(a, b)`; other lists are unknown."""
    values = node.this
    return translator.element(values) if isinstance(values, LISTS) else translator.opaque(node)


def _in_array(translator: Translator, node: Any) -> Bound:
    """`array_contains(sequence(first, last, step), x)`, or of `array(a, b)`."""
    if not isinstance(node.this, LISTS):
        return translator.opaque(node)
    return Call("=", (translator.bind(node.expression), translator.element(node.this)))


def _datediff(translator: Translator, node: Any) -> Bound:
    """`datediff(end, start)` of dates; `datediff(DAY, start, end)` of instants, which sqlglot casts to dates."""
    if not node.text("unit"):
        return Call("datediff", (translator.bind(node.this), translator.bind(node.expression)))
    end, start = (
        operand.this if isinstance(operand, exp.TsOrDsToDate) else operand for operand in (node.this, node.expression)
    )
    return _passed(translator, node, start, end)


def _extract(translator: Translator, node: Any) -> Bound:
    field = _FIELDS.get(node.name.upper())
    return Call(field, (translator.bind(node.expression),)) if field else translator.opaque(node)


def _same(translator: Translator, node: Any) -> Bound:
    return translator.bind(node.this)


def _clock(translator: Translator, node: Any) -> Bound:
    return translator.opaque(node, CLOCK)


def _anonymous(translator: Translator, node: Any) -> Bound:
    name = str(node.this).lower()
    if name in _CLOCKS:
        return translator.opaque(node, CLOCK)
    if name in _PARTS and len(node.expressions) == 2 and isinstance(node.expressions[0], exp.Literal):
        field = _FIELDS.get(node.expressions[0].name.upper())
        return Call(field, (translator.bind(node.expressions[1]),)) if field else translator.opaque(node)
    known = _ANONYMOUS.get(name)
    if known is None or not node.expressions:
        return translator.opaque(node)
    return Call(known, translator.all_of(node.expressions))


def _struct(translator: Translator, node: Any) -> Bound:
    """`struct(dt AS d, id)` and `named_struct('d', dt)`; the parser gives the same tree for both."""
    is_named = [isinstance(part, exp.PropertyEQ) for part in node.expressions]
    values = [
        translator.bind(part.expression if named else part)
        for part, named in zip(node.expressions, is_named, strict=True)
    ]
    is_known = all(is_named) and not any(isinstance(part, Element) for value in values for part in walk(value))
    fields = zip((part.name.lower() for part in node.expressions), values, strict=True) if is_known else ()
    place, why = translator.scope.query.place_of(node), "the function struct is not known"
    return Opaque(tuple(values), why, place, of_data=False, fields=tuple(fields))


def _dot(translator: Translator, node: Any) -> Bound:
    """A field of an expression that is not a column: `struct(dt AS d).d`."""
    if not isinstance(node.expression, exp.Identifier):
        return translator.opaque(node)
    return field_of(translator.bind(node.this), node.expression.name.lower())


def _parameter(translator: Translator, node: Any) -> Bound:
    name = str(node.this) if node.this else ""
    return Parameter(name) if name else translator.opaque(node, "a parameter without a name")


def _concat(parts: Sequence[Bound]) -> Bound:
    """`concat(concat(a, b), c)`, the tree of `a || b || c`, as one call with all parts if they are few."""
    inside = [part.arguments if isinstance(part, Call) and part.name == "concat" else (part,) for part in parts]
    if sum(map(len, inside)) > len(parts) + _SPREAD:
        return Call("concat", tuple(parts))
    return Call("concat", tuple(part for spread in inside for part in spread))


def _concat_ws(translator: Translator, node: Any) -> Bound:
    return Call("concat_ws", translator.all_of(node.expressions))


def _pad(translator: Translator, node: Any) -> Bound:
    name = "lpad" if node.args.get("is_left") else "rpad"
    return _call(name, "this", "expression", "fill_pattern")(translator, node)


def _exists(translator: Translator, node: Any) -> Bound:
    if isinstance(node.this, exp.Query):
        return translator._sub_queries.exists(node.this, translator.scope)  # noqa: SLF001 - a rule of the class
    return translator.opaque(node)


def _scalar(translator: Translator, node: Any) -> Bound:
    return translator._sub_queries.scalar(node, translator.scope)  # noqa: SLF001 - a rule of the class


def _window(translator: Translator, node: Any) -> Bound:
    value = translator.bind(node.this)
    keys = translator.all_of(node.args.get("partition_by") or [])
    order = node.args.get("order")
    ordered = translator.all_of([expression.this for expression in order.expressions] if order is not None else [])
    place = translator.scope.query.place_of(node)
    return Opaque((value,), WINDOW, place, (*keys, *ordered))


def _filter(translator: Translator, node: Any) -> Bound:
    """`sum(x) FILTER (WHERE ...)`."""
    value, condition = translator.bind(node.this), translator.bind(node.expression.this)
    return Opaque((value,), AGGREGATE, translator.scope.query.place_of(node), (condition,))


_BINARY = ("this", "expression")
_SIMPLE: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "not": ("not", ("this",)),
    "eq": ("=", _BINARY),
    "lt": ("<", _BINARY),
    "lte": ("<=", _BINARY),
    "nullsafeeq": ("<=>", _BINARY),
    "regexplike": ("rlike", _BINARY),
    "regexpreplace": ("regexp_replace", ("this", "expression", "replacement")),
    "equalnull": ("<=>", _BINARY),
    "add": ("+", _BINARY),
    "sub": ("-", _BINARY),
    "mul": ("*", _BINARY),
    "div": ("/", _BINARY),
    "intdiv": ("div", _BINARY),
    "mod": ("%", _BINARY),
    "neg": ("negative", ("this",)),
    "abs": ("abs", ("this",)),
    "addmonths": ("add_months", _BINARY),
    "lastday": ("last_day", ("this",)),
    "nextday": ("next_day", _BINARY),
    "unixdate": ("unix_date", ("this",)),
    "datefromunixdate": ("date_from_unix_date", ("this",)),
    "nullif": ("nullif", _BINARY),
    "substring": ("substring", ("this", "start", "length")),
    "left": ("left", _BINARY),
    "right": ("right", _BINARY),
    "replace": ("replace", ("this", "expression", "replacement")),
    "upper": ("upper", ("this",)),
    "lower": ("lower", ("this",)),
    "length": ("length", ("this",)),
    "like": ("like", _BINARY),
    "startswith": ("starts_with", _BINARY),
    "endswith": ("ends_with", _BINARY),
    "contains": ("contains", _BINARY),
    "substringindex": ("substring_index", ("this", "delimiter", "count")),
    "splitpart": ("split_part", ("this", "delimiter", "part_index")),
    "dayofweek": ("dayofweek", ("this",)),
    "dayofmonth": ("day", ("this",)),
    "dayofyear": ("dayofyear", ("this",)),
    "weekofyear": ("weekofyear", ("this",)),
    "year": ("year", ("this",)),
    "quarter": ("quarter", ("this",)),
    "month": ("month", ("this",)),
    "day": ("day", ("this",)),
    "hour": ("hour", ("this",)),
    "minute": ("minute", ("this",)),
}
_FIELDS: Final = {
    "YEAR": "year",
    "QUARTER": "quarter",
    "MONTH": "month",
    "DAY": "day",
    "DOW": "dayofweek",
    "DAYOFWEEK": "dayofweek",
    "DOY": "dayofyear",
    "WEEK": "weekofyear",
    "YEAROFWEEK": "yearofweek",
    "HOUR": "hour",
    "MINUTE": "minute",
}
_PARTS: Final = frozenset(["date_part", "datepart"])
_ANONYMOUS: Final = {
    "weekday": "weekday",
    "timestamp_seconds": "timestamp_seconds",
    "make_date": "make_date",
    "pmod": "pmod",
    "isnull": "is_null",
    "bigint": "cast_to_bigint",
    "smallint": "cast_to_smallint",
    "tinyint": "cast_to_tinyint",
}
_RULES: Final[dict[str, Callable[[Translator, Any], Bound]]] = {
    "literal": _literal,
    "null": lambda _, __: Literal(Special.NULL),
    "and": _logic("and", exp.And),
    "or": _logic("or", exp.Or),
    "boolean": lambda _, node: Literal(logic.TRUE if node.this else logic.FALSE),
    "column": _column,
    "placeholder": _parameter,
    "paren": _same,
    "alias": _same,
    "timestrtotime": _same,
    "explode": _exploded,
    "explodeouter": _exploded,
    "arraycontains": _in_array,
    "nullsafeneq": _negate(lambda translator, node: Call("<=>", translator.all_of([node.this, node.expression]))),
    "neq": _negate(lambda translator, node: Call("=", translator.all_of([node.this, node.expression]))),
    "gt": _swap("<"),
    "gte": _swap("<="),
    "between": _between,
    "in": _in,
    "is": _is,
    "case": _case,
    "if": _if,
    "nvl2": _nvl2,
    "coalesce": _call("coalesce", "this", "expressions"),
    "elt": _call("elt", "this", "expressions"),
    "greatest": _call("greatest", "this", "expressions"),
    "least": _call("least", "this", "expressions"),
    "tsordstodate": _with_pattern("to_date"),
    "timetostr": _with_pattern("date_format"),
    "cast": _cast,
    "trycast": _cast,
    "interval": _interval,
    "makeinterval": _call("make_interval", "year", "month", "week", "day", "hour", "minute", "second"),
    "tsordsadd": _add_days,
    "timestampadd": _add_unit,
    "dateadd": _add_unit,
    "datetrunc": _trunc,
    "timestamptrunc": _date_trunc,
    "datediff": _datediff,
    "timestampdiff": _timestampdiff,
    "strtotime": _with_pattern("to_timestamp"),
    "strtounix": _with_pattern("unix_timestamp"),
    "unixtostr": _with_pattern("from_unixtime"),
    "timestampfromparts": _call("make_timestamp", "year", "month", "day", "hour", "min", "sec"),
    "attimezone": _call("from_utc_timestamp", "this", "zone"),  # sqlglot's nodes of these two functions
    "fromtimezone": _call("to_utc_timestamp", "this", "zone"),
    "decodecase": _decode,
    "bracket": _element_at,
    "extract": _extract,
    "concat": lambda translator, node: _concat(translator.all_of(node.expressions)),
    "dpipe": lambda translator, node: _concat(translator.all_of(chained(node, exp.DPipe))),
    "concatws": _concat_ws,
    "pad": _pad,
    "trim": lambda translator, node: (
        translator.opaque(node) if node.args.get("expression") else Call("trim", (translator.bind(node.this),))
    ),
    "floor": lambda translator, node: (
        translator.opaque(node) if node.args.get("decimals") else Call("floor", (translator.bind(node.this),))
    ),
    "ceil": lambda translator, node: (
        translator.opaque(node) if node.args.get("decimals") else Call("ceil", (translator.bind(node.this),))
    ),
    "struct": _struct,
    "dot": _dot,
    "exists": _exists,
    "subquery": _scalar,
    "select": _scalar,
    "union": _scalar,
    "window": _window,
    "filter": _filter,
    "currentdate": _clock,
    "currenttimestamp": _clock,
    "localtimestamp": _clock,
    "anonymous": _anonymous,
}
