"""What the analysis says that an expression is, and what Spark says: random expressions of dates, instants and texts.

The analysis may say that it does not know; what it does say has to be Spark's own answer.
"""

# ruff: noqa: S608 - the expressions are made up here, and nobody else runs them

from __future__ import annotations

import logging
import re
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import PySparkException

from tests.seeds import chunks
from tidemark.dependency_model.lineage import three_valued_logic as logic
from tidemark.dependency_model.lineage.bound_expression import Opaque, walk
from tidemark.dependency_model.lineage.expression_evaluation import Evaluator
from tidemark.dependency_model.lineage.functions.sequences import sequence_values
from tidemark.dependency_model.lineage.known_tables import Tables
from tidemark.dependency_model.lineage.parsed_query import read_query
from tidemark.dependency_model.lineage.query_binding import bind
from tidemark.dependency_model.lineage.type_conversion import Conversion
from tidemark.dependency_model.lineage.value_range import Range, Special, Type, Value, point
from tidemark.dependency_model.time.zone import Zone
from tidemark.errors import QueryError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

ZONE = "Europe/Paris"
DAYS = [
    date(2024, 2, 29), date(2024, 3, 31), date(2024, 4, 1), date(2024, 10, 27), date(2024, 10, 28), date(2024, 12, 31),
    date(2025, 1, 1), date(2025, 6, 16), date(2026, 3, 22), date(2026, 3, 30),
]  # fmt: skip
"""Leap days, turns of years and weeks, days of 23 and 25 hours and those behind them."""
_UNITS = ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND")
_HOURS = (0, 1, 2, 2, 2, 3, 9, 23)
"""Often the one that comes twice in October and not in March."""
_ZONES = ("Europe/Paris", "Asia/Shanghai", "America/New_York", "Australia/Lord_Howe", "UTC", "Nowhere/City")
_TRUNCATES = ("year", "YYYY", "Q", "quarter", "MM", "mon", "week", "day", "M", "HOUR")
_FORMS = (
    "yyyy-MM-dd",
    "yyyyMMdd",
    "yyyy-MM",
    "yyyyMM",
    "yyyy",
    "yyyy-MM-dd HH",
    "yyyy-MM-dd HH:mm:ss",
    "HH",
    "MM/dd/yyyy",
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_AT_ONCE = 25
"""Expressions in one query of Spark."""
_LAZY = re.compile(r"\b(CASE|BETWEEN|IN|decode)\b")
"""Parts of it are not looked at once the rest decides: Spark may fail in one where the value is known."""
_SHOWN: dict[Type, Callable[[Any], Any]] = {
    Type.DATE: lambda day: _EPOCH.date() + timedelta(days=day),
    Type.TIMESTAMP: lambda micros: f"@{micros}",
    Type.STRING: str,
    Type.NUMBER: Fraction,
    Type.INTERVAL: lambda parts: timedelta(microseconds=parts[1]),
    Type.DURATION: lambda parts: timedelta(microseconds=parts[1]),
}
_KNOWN = {logic.TRUE: True, logic.FALSE: False, logic.NULL: None}


@pytest.fixture(scope="module")
def paris(spark: SparkSession) -> Iterator[SparkSession]:
    """A session on that clock; what Spark refuses is an answer here, no line in the log."""
    logger = logging.getLogger("SQLQueryContextLogger")
    level, clock = logger.level, spark.conf.get("spark.sql.session.timeZone") or "UTC"
    logger.setLevel(logging.CRITICAL + 1)
    spark.conf.set("spark.sql.session.timeZone", ZONE)
    yield spark
    spark.conf.set("spark.sql.session.timeZone", clock)
    logger.setLevel(level)


def _day(random: Random, depth: int) -> str:
    if depth == 0:
        return random.choice([":biz_date", ":biz_date", "DATE '2024-10-27'", "date '2025-01-31'"])
    day, count = _day(random, depth - 1), random.randint(-40, 40)
    return random.choice(
        [
            f"date_add({day}, {count})",
            f"date_sub({day}, {count})",
            f"add_months({day}, {count})",
            f"last_day({day})",
            f"next_day({day}, '{random.choice(['MO', 'TU', 'WE', 'Thu', 'Friday', 'sat', 'SUN', 'TUES'])}')",
            f"trunc({day}, '{random.choice(_TRUNCATES)}')",
            f"make_date(year({day}), month({day}), {random.randint(1, 31)})",
            f"to_date({_instant(random, depth - 1)})",
            f"to_date({_text(random, depth - 1)})",
            f"to_date(date_format({day}, 'yyyyMMdd'), 'yyyyMMdd')",
            f"date_from_unix_date(unix_date({day}) + {count})",
            f"{day} + INTERVAL {random.randint(1, 3)} {random.choice(_UNITS[:5])}",
            f"{day} - {random.randint(0, 3)} * INTERVAL 1 {random.choice(_UNITS[:5])}",
            f"CASE WHEN {_condition(random, depth - 1)} THEN {day} ELSE :biz_date END",
            f"decode(weekday({day}), 0, {day}, 6, date_add({day}, 1), date_sub({day}, 2))",
            f"greatest({day}, :biz_date)",
        ]
    )


def _instant(random: Random, depth: int) -> str:
    if depth == 0:
        return random.choice([":period_start", ":period_end", "cast(:biz_date AS TIMESTAMP)"])
    instant, unit, count = _instant(random, depth - 1), random.choice(_UNITS), random.randint(-30, 30)
    return random.choice(
        [
            f"date_trunc('{random.choice([*_UNITS, 'MM', 'MON', 'DD', 'M', 'YYYY', 'Q'])}', {instant})",
            f"{instant} + INTERVAL {abs(count)} {unit}",
            f"{instant} - INTERVAL {abs(count)} {unit}",
            f"timestampadd({unit}, {count}, {instant})",
            f"dateadd({unit}, {count}, {instant})",
            f"cast({_day(random, depth - 1)} AS TIMESTAMP)",
            f"to_timestamp(concat({_day(random, depth - 1)}, ' {random.choice(_HOURS):02}:30:00'))",
            f"to_timestamp(concat({_day(random, depth - 1)}, ' {random.randint(0, 23):02}'), 'yyyy-MM-dd HH')",
            f"to_timestamp(date_format({instant}, 'yyyyMMddHH'), 'yyyyMMddHH')",
            f"timestamp_seconds(unix_timestamp({instant}) + {count * 3600})",
            f"make_timestamp(year({instant}), month({instant}), day({instant}), {random.choice(_HOURS)}, 15, 30)",
            f"{random.choice(['from', 'to'])}_utc_timestamp({instant}, '{random.choice(_ZONES)}')",
        ]
    )


def _text(random: Random, depth: int) -> str:
    if depth == 0:
        return random.choice(["cast(:biz_date AS STRING)", "cast(:period_end AS STRING)", "'2024-10-27'", "'20241027'"])
    text, start = _text(random, depth - 1), random.randint(1, 8)
    return random.choice(
        [
            f"date_format({_day(random, depth - 1)}, '{random.choice(_FORMS)}')",
            f"date_format({_instant(random, depth - 1)}, '{random.choice(_FORMS)}')",
            f"from_unixtime(unix_timestamp({_instant(random, depth - 1)}) - {random.choice([3600, 86400])})",
            f"from_unixtime(unix_timestamp({_day(random, depth - 1)}), '{random.choice(_FORMS)}')",
            f"cast({_instant(random, depth - 1)} AS STRING)",
            f"cast({_number(random, depth - 1)} AS STRING)",
            f"concat({text}, '-', {_day(random, depth - 1)})",
            f"substr({text}, {start}, {random.randint(1, 4)})",
            f"left({text}, {start})",
            f"right({text}, {start})",
            f"lpad({text}, {start}, '0')",
            f"replace({text}, '-', '')",
            f"regexp_replace({text}, '{random.choice(['-', '[-: ]', '0+', '^2', r'(-|:)', ' .*$', '-?0'])}', '')",
            f"split({text}, '{random.choice(['-', ' ', ':', '[-: ]'])}')[{random.randint(0, 2)}]",
            f"upper({text})",
        ]
    )


def _number(random: Random, depth: int) -> str:
    if depth == 0:
        return str(random.randint(-3, 40))
    day, instant, number = _day(random, depth - 1), _instant(random, depth - 1), _number(random, depth - 1)
    field = random.choice(
        ["year", "quarter", "month", "day", "dayofweek", "weekday", "dayofyear", "weekofyear", "hour"]
    )
    return random.choice(
        [
            f"{field}({random.choice([day, instant])})",
            f"extract({random.choice(['YEAR', 'MONTH', 'DAY', 'WEEK', 'DOW', 'HOUR', 'MINUTE'])} FROM {instant})",
            f"datediff({day}, {_day(random, depth - 1)})",
            f"datediff({random.choice(_UNITS)}, {instant}, {_instant(random, depth - 1)})",
            f"timestampdiff({random.choice(_UNITS)}, {instant}, {_instant(random, depth - 1)})",
            f"unix_timestamp({random.choice([day, instant])})",
            f"int({_condition(random, depth - 1)})",
            f"int(replace({day}, '-', ''))",
            f"int({_text(random, depth - 1)})",
            f"({number} {random.choice(['+', '-', '*', '%'])} {random.randint(1, 9)})",
            f"pmod({number}, 7)",
            f"length({_text(random, depth - 1)})",
        ]
    )


def _condition(random: Random, depth: int) -> str:
    day, text, compare = (
        _day(random, depth),
        _text(random, depth),
        random.choice(["=", "<", "<=", ">", ">=", "<>", "<=>"]),
    )
    return random.choice(
        [
            f"{day} {compare} {_day(random, depth)}",
            f"{day} {compare} {_instant(random, depth)}",
            f"{_instant(random, depth)} {compare} {_instant(random, depth)}",
            f"{text} {compare} {_text(random, depth)}",
            f"{day} {compare} {text}",
            f"{_number(random, depth)} {compare} {_number(random, depth)}",
            f"{text} RLIKE '{random.choice(['^2024', '-0[13]-', '[02468]$', '.*1{2}', '00:00'])}'",
            f"{text} LIKE '{random.choice(['2024%', '%-0_-%', '%0'])}'",
            f"{day} IS DISTINCT FROM {_day(random, depth)}",
            f"({day}, {text}) IN ((:biz_date, {text}), ({day}, 'x'))",
            f"({_instant(random, depth)} - {_instant(random, depth)}) {compare} INTERVAL {random.randint(0, 3)} DAYS",
            f"NOT ({day} BETWEEN {_day(random, depth)} AND {_day(random, depth)})",
        ]
    )


KINDS: list[Callable[[Random, int], str]] = [_day, _instant, _text, _number, _condition]


def differences(spark: SparkSession, first: int, count: int) -> tuple[list[str], int]:
    """Expressions whose known value is not Spark's, and how many values were known."""
    wrong: list[str] = []
    asked: dict[tuple[date, ...], list[tuple[str, str, Mapping[date, Value]]]] = {}
    for seed in range(first, first + count):
        random = Random(seed)
        expression = random.choice(KINDS)(random, random.randint(1, 3))
        try:
            of_days = {day: _ours(expression, day) for day in DAYS}
        except QueryError as error:
            wrong.append(f"{seed}: {expression}: {error}")
            continue
        known = {day: value for day, value in of_days.items() if value is not Special.UNKNOWN}
        asked.setdefault(tuple(known), []).append((f"{seed}: {expression}", expression, known))
    for days, alike in asked.items():
        for at in range(0, len(alike) if days else 0, _AT_ONCE):
            together = alike[at : at + _AT_ONCE]
            theirs = _theirs(spark, [expression for _, expression, _ in together], days)
            for (name, expression, ours), values in zip(together, theirs, strict=True):
                wrong += _unlike(name, expression, ours, values)
    return wrong, sum(len(days) * len(alike) for days, alike in asked.items())


def _unlike(name: str, expression: str, ours: Mapping[date, Value], theirs: list[Any]) -> Iterator[str]:
    for (day, value), other in zip(ours.items(), theirs, strict=True):
        is_left_out = isinstance(other, Exception) and _LAZY.search(expression)
        if not is_left_out and not _same(value, other):
            yield f"{name} on {day}: {value} here, {other!r} in Spark"


def _start(day: date) -> int:
    return Zone.load(ZONE).midnight((day - _EPOCH.date()).days) * 1_000_000


def _ours(expression: str, day: date) -> Value:
    (relation,) = bind(read_query(f"SELECT {expression} AS v"), Tables({}))
    evaluator = Evaluator(Conversion(Zone.load(ZONE)), {})
    compute = evaluator.compile(relation.columns["v"])
    evaluator.begin(
        {
            "biz_date": point(Type.DATE, (day - _EPOCH.date()).days),
            "period_start": point(Type.TIMESTAMP, _start(day)),
            "period_end": point(Type.TIMESTAMP, _start(day + timedelta(days=1))),
        }
    )
    value = compute({})
    if isinstance(value, int):
        return value if value in _KNOWN else Special.UNKNOWN
    if (
        value is Special.IMPRECISE
    ):  # one of several, of which some part of it that is not known chooses, and that is told
        parts = walk(relation.columns["v"])
        assert evaluator.unevaluated or any(isinstance(part, Opaque) for part in parts), expression
        return Special.UNKNOWN
    return value


def _theirs(spark: SparkSession, expressions: list[str], days: Sequence[date]) -> list[list[Any]]:
    """Spark's values of each expression on each of the days; its error where it has none."""
    try:
        return _values(spark, expressions, days)
    except (PySparkException, ValueError) as error:
        if len(expressions) > 1:
            middle = len(expressions) // 2
            return _theirs(spark, expressions[:middle], days) + _theirs(spark, expressions[middle:], days)
        if len(days) > 1:
            return [[value for day in days for (values,) in [_theirs(spark, expressions, [day])] for value in values]]
        return [[error]]


def _values(spark: SparkSession, expressions: list[str], days: Sequence[date]) -> list[list[Any]]:
    rows = ", ".join(
        f"(DATE '{day}', timestamp_micros({_start(day)}L), timestamp_micros({_start(day + timedelta(days=1))}L))"
        for day in days
    )
    text = ", ".join(f"{expression} AS v{at}" for at, expression in enumerate(expressions))
    for name, column in ((":biz_date", "b"), (":period_start", "s"), (":period_end", "e")):
        text = text.replace(name, column)
    frame = spark.sql(f"SELECT {text} FROM VALUES {rows} AS t(b, s, e)")
    are_instants = [field.dataType.simpleString() == "timestamp" for field in frame.schema]
    shown = [f"unix_micros(v{at})" if instant else f"v{at}" for at, instant in enumerate(are_instants)]
    columns = zip(*frame.selectExpr(*shown).collect(), strict=True)
    return [
        [f"@{value}" if instant and value is not None else value for value in column]
        for instant, column in zip(are_instants, columns, strict=True)
    ]


def _same(value: Value, theirs: Any) -> bool:
    if isinstance(value, int):
        return theirs is _KNOWN[value]
    if not isinstance(value, Range):
        return theirs is None
    if not value.is_point:  # one of several, by a condition that the analysis does not know
        shown = _SHOWN[value.type]
        return theirs is None or isinstance(theirs, Exception) or shown(value.low) <= theirs <= shown(value.high)
    if value.type is Type.NUMBER:
        return isinstance(theirs, (int, float, Decimal)) and Fraction(theirs) == Fraction(value.low)
    return bool(theirs == _SHOWN[value.type](value.low))


def test_what_is_known_of_an_expression_is_what_spark_makes_of_it(paris: SparkSession) -> None:
    wrong, known = differences(paris, 0, 40)
    assert wrong == []
    assert known > 40 * len(DAYS) // 2


@pytest.mark.parametrize(
    "expression",
    [
        "int(date_format(:biz_date, 'yyyyMMddHH'))",
        "int(date_format(:biz_date, 'yyyyMMddHHmm'))",
        "bigint(date_format(:biz_date, 'yyyyMMddHHmm'))",
        "cast(unix_timestamp(:period_end) * 2 AS INT)",
        "cast(year(:biz_date) * 20 AS SMALLINT)",
        "smallint(year(:biz_date))",
        "cast(dayofyear(:biz_date) AS TINYINT)",
        "tinyint(month(:biz_date))",
    ],
)
def test_a_number_that_does_not_fit_its_type_is_unknown(paris: SparkSession, expression: str) -> None:
    """Spark stops the query there (CAST_OVERFLOW or CAST_INVALID_INPUT)."""
    for day, theirs in zip(DAYS, *_theirs(paris, [expression], DAYS), strict=True):
        ours = _ours(expression, day)
        assert (ours is Special.UNKNOWN) if isinstance(theirs, Exception) else _same(ours, theirs), day


@pytest.mark.parametrize("sequences", [12, pytest.param(60, marks=pytest.mark.long)])
def test_the_values_of_a_sequence_are_sparks(paris: SparkSession, sequences: int) -> None:
    random, conversion = Random(11), Conversion(Zone.load(ZONE))
    wrong, known = [], 0
    for _ in range(sequences):
        first, last, step = _sequence(random)
        for day in random.sample(DAYS, 3):
            values = [_ours(text, day) for text in (first, last, *([step] if step else []))]
            ours = sequence_values(conversion, *values)
            call = f"sequence({', '.join([first, last, *([step] if step else [])])})"
            theirs = _theirs_on(paris, f"transform({call}, v -> concat('@', unix_micros(cast(v AS TIMESTAMP))))", day)
            if "biz" not in first:
                theirs = _theirs_on(paris, call, day)
            shown = None if ours is None else [_shown_moment(conversion, value) for value in ours]
            known += ours is not None
            if shown != theirs:
                wrong.append(f"{call} on {day}: {shown} here, {theirs} in Spark")
    assert wrong == []
    assert known > sequences


def _sequence(random: Random) -> tuple[str, str, str]:
    """First, last, and a step or nothing."""
    if random.random() < 0.2:
        return str(random.randint(-3, 9)), str(random.randint(-3, 9)), random.choice(["", "1", "-1", "2", "-3"])
    count, unit = random.randint(-40, 40), random.choice(["DAY", "DAY", "WEEK", "MONTH"])
    step = random.choice(["", f"INTERVAL {random.choice([1, 1, 2, 7, -1, -3])} {unit}"])
    if random.random() < 0.4:
        hours = random.choice(["", f"INTERVAL {random.choice([1, 6, 24, -1])} HOUR"])
        return "cast(:biz_date AS TIMESTAMP)", f"cast(date_add(:biz_date, {count // 8}) AS TIMESTAMP)", hours or step
    return ":biz_date", f"date_add(:biz_date, {count})", step


def _shown_moment(conversion: Conversion, value: Range) -> Any:
    if value.type is Type.NUMBER:
        return int(value.low)
    instant = conversion.cast(value, Type.TIMESTAMP)
    assert isinstance(instant, Range)
    return f"@{instant.low}"


def _theirs_on(spark: SparkSession, expression: str, day: date) -> list[Any] | None:
    """Spark's list; None where it refuses."""
    try:
        ((values,),) = _values(spark, [expression], [day])
    except PySparkException:
        return None
    return list(values)


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("first", chunks(1_000, 500))
def test_what_is_known_of_many_expressions_is_what_spark_makes_of_them(paris: SparkSession, first: int) -> None:
    wrong, known = differences(paris, first, 500)
    assert wrong == []
    assert known > 500 * len(DAYS) // 2
