"""Rules of an external slice, counted by its own source (A5): one figure for each rule, all in one query.

Every name is quoted and every value is bound. Rules mean the same as in Spark's SQL: texts are compared letter by
letter under any collation, and numbers by value, so that 10 equals 10.00 and 0.0 equals -0.0.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tidemark.crawl.watermark import instant_of
from tidemark.dependency_model.entity.quality_rules import (
    AcceptedValues,
    Freshness,
    NotNull,
    QualityRule,
    Unique,
    WithinRange,
)
from tidemark.quoting import mysql, standard

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tidemark.crawl.probed_slice import ProbedSlice
    from tidemark.dependency_model.entity.quality_rules import Accepted, Bound

_OF_MYSQL = frozenset({"mysql", "mariadb"})
_IS_TEXT: Final = "COERCIBILITY({}) <> 5"
"""A condition of MariaDB: whether a column has text or bytes, not numbers or times."""
_NUMBER: Final = "^[-+]?[0-9]+([.][0-9]*)?([eE][-+]?[0-9]+)?$"


class Figure(NamedTuple):
    """An expression over the slice's rows, with its bound values in order."""

    sql: str
    values: tuple[object, ...] = ()


@dataclass(frozen=True, slots=True)
class SourceRows:
    """The rows of one slice: `table` and `where` in the dialect's SQL, with the values bound in `where`.

    `texts` are columns that are known to have texts, in lower case: numbers and times are parsed from them. `marks`
    are those of bound texts for columns of other types, such as times, which are compared in these types.
    `instants` are those of all years.
    """

    dialect: str
    table: str
    where: str
    values: tuple[object, ...]
    texts: frozenset[str] = frozenset()
    marks: Mapping[str, str] = field(default_factory=dict)
    instants: frozenset[str] = frozenset()

    def query(self, figures: Sequence[Figure]) -> tuple[str, tuple[object, ...]]:
        """A query for one row of these figures, with its bound values."""
        values = tuple(value for figure in figures for value in figure.values) + self.values
        columns = ", ".join(figure.sql for figure in figures)
        return f"SELECT {columns} FROM {self.table} WHERE {self.where}", values  # noqa: S608 - every name is quoted


def figures_of(rules: Mapping[str, QualityRule], rows: SourceRows) -> dict[str, Figure]:
    """The figure of each rule by name, without rules that only need the number of rows.

    For rules about single rows and `unique` it is the number of rows that break the rule, for `freshness` the newest
    time.
    """
    figures = {name: _figure(rule, rows) for name, rule in rules.items()}
    return {name: figure for name, figure in figures.items() if figure is not None}


def columns_of(rules: Mapping[str, QualityRule]) -> set[str]:
    """The columns of the figures."""
    return {column for rule in rules.values() for column in _columns(rule)}


def measured(
    rules: Mapping[str, QualityRule],
    names: Iterable[str],
    values: Sequence[Any],
    probed: ProbedSlice,
    wall_clock: str = "UTC",
) -> dict[str, float | None]:
    """The source's results by rule: rows that break it, or seconds from the newest time to the slice's end.

    None if no row has a time. A time without a zone is in the zone `wall_clock`. Raises ProbeError for an invalid time.
    """
    return {name: _number(rules[name], value, probed, wall_clock) for name, value in zip(names, values, strict=True)}


def _number(rule: QualityRule, value: Any, probed: ProbedSlice, wall_clock: str) -> float | None:
    if not isinstance(rule, Freshness):
        return int(value or 0)
    if value is None or probed.window is None:
        return None
    return (probed.window.end - instant_of(value, probed.time_zone, wall_clock)).total_seconds()


def _figure(rule: QualityRule, rows: SourceRows) -> Figure | None:
    match rule:
        case NotNull(columns=columns):
            return _breaking(" OR ".join(f"{quote_name(column, rows.dialect)} IS NULL" for column in columns))
        case AcceptedValues(column=column, values=values):
            return _outside(column, values, rows)
        case WithinRange(column=column, min=low, max=high):
            return _out_of_range(
                column, [(sign, end) for sign, end in (("<", low), (">", high)) if end is not None], rows
            )
        case Unique(columns=columns):
            keys = ", ".join(_key(column, rows.dialect) for column in columns)
            groups = f"SELECT count(*) AS n FROM {rows.table} WHERE {rows.where} GROUP BY {keys}"  # noqa: S608 - every name is quoted
            return Figure(f"(SELECT coalesce(sum(n - 1), 0) FROM ({groups}) AS g)", rows.values)  # noqa: S608 - every name is quoted
        case Freshness(column=column):
            newest = f"max({_value(column, rows, 'TIMESTAMPTZ')})"
            return Figure(_within_calendar(newest) if column.lower() in rows.instants | rows.texts else newest)
    return None


def _within_calendar(time: str) -> str:
    """A time for Python, whose calendar ends with the year 9999, also on the clock of any zone."""
    first, last = "'0001-01-03'", "'9999-12-29'"
    return f"CASE WHEN {time} > {last} THEN {last} WHEN {time} < {first} THEN {first} ELSE {time} END"


def _columns(rule: QualityRule) -> tuple[str, ...]:
    match rule:
        case NotNull(columns=columns) | Unique(columns=columns):
            return columns
        case AcceptedValues(column=column) | WithinRange(column=column) | Freshness(column=column):
            return (column,)
    return ()


def _breaking(condition: str, values: tuple[object, ...] = ()) -> Figure:
    """The number of rows that fulfil a condition; NULL does not count."""
    return Figure(f"count(CASE WHEN {condition} THEN 1 END)", values)


def _value(column: str, rows: SourceRows, kind: str) -> str:
    """A column; a text is cast to this DuckDB type."""
    name = quote_name(column, rows.dialect)
    return f"CAST({name} AS {kind})" if column.lower() in rows.texts else name


def _outside(column: str, values: Sequence[Accepted], rows: SourceRows) -> Figure:
    """The number of rows with another value: compared as text, numbers also by value, and times by time."""
    dialect, own = rows.dialect, rows.marks.get(column.lower())
    mark, is_text = bound_mark(dialect), any(isinstance(value, str) for value in values)
    if dialect == "sqlite":
        marks = ", ".join([mark] * len(values))
        return _breaking(f"{_key(column, dialect)} NOT IN ({marks})", tuple(_sqlite_value(value) for value in values))
    texts = tuple(_text(value, dialect) for value in values)
    text = _text_of(column, dialect)
    condition = f"{text} NOT IN ({', '.join([mark] * len(values))})"
    numbers = () if is_text else tuple(float(value) for value in values if not isinstance(value, bool))
    if own is not None and not numbers:
        condition = f"{quote_name(column, dialect)} NOT IN ({', '.join([own] * len(values))})"
    if numbers:
        number = _number_of(text, dialect)
        condition += f" AND coalesce({number} NOT IN ({', '.join([mark] * len(numbers))}), TRUE)"
    return _breaking(condition, (*texts, *numbers))


def _out_of_range(column: str, ends: Sequence[tuple[str, Bound]], rows: SourceRows) -> Figure:
    """The number of rows outside of these bounds: by letters if the bounds are texts, else by value."""
    name, dialect = quote_name(column, rows.dialect), rows.dialect
    mark = rows.marks.get(column.lower(), bound_mark(dialect))

    def outside(value: str, bound: str = mark) -> str:
        return " OR ".join(f"{value} {sign} {bound}" for sign, _ in ends)

    values = tuple(end for _, end in ends)
    if not any(isinstance(end, str) for end in values):
        return _breaking(outside(_value(column, rows, "DOUBLE")), values)
    if dialect in _OF_MYSQL:
        by_letters = outside(f"CAST({name} AS BINARY)", f"CAST({mark} AS BINARY)")
        return _breaking(f"IF({_IS_TEXT.format(name)}, {by_letters}, {outside(name)})", values * 2)
    if dialect == "postgresql":
        by_letters = outside(f'CAST({name} AS TEXT) COLLATE "C"')
        is_text = f"CAST(pg_typeof({name}) AS TEXT) IN ('text', 'character varying', 'character')"
        return _breaking(f"CASE WHEN {is_text} THEN {by_letters} ELSE {outside(name)} END", values * 2)
    return _breaking(outside(f"{name} COLLATE BINARY" if dialect == "sqlite" else name), values)


def _sqlite_value(value: Accepted) -> object:
    return int(value) if isinstance(value, bool) else value


def _number_of(text: str, dialect: str) -> str:
    """The number in a text; NULL if it is not one."""
    if dialect == "duckdb":
        return f"TRY_CAST({text} AS DOUBLE)"
    if dialect == "postgresql":
        return f"CASE WHEN {text} ~ '{_NUMBER}' THEN CAST({text} AS DOUBLE PRECISION) END"
    return f"CASE WHEN {text} REGEXP '{_NUMBER}' THEN {text} + 0e0 END"


def _text_of(column: str, dialect: str) -> str:
    """A column's text, which no collation makes equal to another text."""
    name = quote_name(column, dialect)
    if dialect in _OF_MYSQL:
        return f"CAST(CONVERT({name} USING utf8mb4) AS BINARY)"
    return f"CAST({name} AS {'VARCHAR' if dialect == 'duckdb' else 'TEXT'})"


def _key(column: str, dialect: str) -> str:
    """Expressions that are equal only for equal values of a column: letters of texts, bytes of binaries."""
    name = quote_name(column, dialect)
    if dialect == "duckdb":
        return name
    if dialect == "sqlite":
        return f"{name} COLLATE BINARY"
    if dialect in _OF_MYSQL:
        # A FLOAT's text only has six of its digits.
        return f"{name}, IF({_IS_TEXT.format(name)}, CAST({name} AS BINARY), NULL)"
    text = f"CAST({name} AS TEXT)"
    return (
        f"CASE CAST(pg_typeof({name}) AS TEXT) WHEN 'numeric' THEN CAST(trim_scale(CAST({text} AS NUMERIC)) AS TEXT) "
        f"WHEN 'double precision' THEN CAST(CAST({text} AS DOUBLE PRECISION) + 0 AS TEXT) "
        f"WHEN 'real' THEN CAST(CAST({text} AS DOUBLE PRECISION) + 0 AS TEXT) ELSE {text} END"
    )


def _text(value: object, dialect: str) -> str:
    if isinstance(value, bool):
        return str(value).lower() if dialect in {"postgresql", "duckdb"} else str(int(value))
    return value.isoformat() if isinstance(value, (date, datetime)) else str(value)


def bound_mark(dialect: str) -> str:
    """A driver's mark of a bound value."""
    return "?" if dialect in {"sqlite", "duckdb"} else "%s"


def condition(name: str, sign: str, dialect: str) -> str:
    """`"name" >= ?`."""
    return f"{quote_name(name, dialect)} {sign} {bound_mark(dialect)}"


def quote_name(name: str, dialect: str) -> str:
    """The name, quoted for a driver: drivers with `%s` read two percent signs as one."""
    if dialect == "sqlite":
        return standard.quote(name, "sqlite")
    if dialect == "duckdb":
        return standard.quote(name, "duckdb")
    quoted = standard.quote(name, "postgresql") if dialect == "postgresql" else mysql.quote(name)
    return quoted.replace("%", "%%")
