"""Each rule of YAML has the result of the Spark SQL that people would write for it, over random tables and zones.

`drift` is not here: it compares profiles, and no query has its meaning.
"""

# ruff: noqa: S608 - the queries are made up here

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import TYPE_CHECKING, Any, Final, cast
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException

from tests.compute.test_quality_rules import Around
from tests.dependency_model.world import entity
from tests.seeds import chunks
from tidemark.compute.outside_frames import of_arrow
from tidemark.compute.quality_checks import audit
from tidemark.compute.rule_measures import measure
from tidemark.dependency_model.entity.quality_rules import Freshness, check_names
from tidemark.dependency_model.slice import Slice
from tidemark.spark.temporary_settings import settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import SparkSession

    from tidemark.compute.rule_surroundings import Surroundings

pytestmark = pytest.mark.spark

AT_ONCE, MANY, CHUNK = 125, 2_000, 500
"""Tables at once, in all and in one test."""
FIRST: Final = date(2026, 3, 20)
ZONES: Final = ("UTC", "Europe/Paris", "America/New_York", "Asia/Shanghai", "Australia/Lord_Howe")
AT: Final = datetime(2026, 3, 29, 1, 30, tzinfo=UTC)
NAN, INFINITY = float("nan"), float("inf")
VALUES: Final[dict[str, tuple[pa.DataType, list[Any]]]] = {
    "i": (pa.int32(), [0, 1, 2, -7, None]),
    "n": (pa.int64(), [0, 1, 9007199254740993, 2**63 - 1, None]),
    "m": (pa.decimal128(9, 2), [Decimal("1.50"), Decimal("0.00"), Decimal("-1234567.89"), Decimal("10.00"), None]),
    "x": (pa.float64(), [0.0, -0.0, 0.1, 1.5, 1e300, INFINITY, -INFINITY, NAN, None]),
    "f": (pa.float32(), [0.0, -0.0, 0.1, 1.5, NAN, None]),
    "b": (pa.bool_(), [True, False, None]),
    "s": (pa.string(), ["a", "A", "é", "", " a", "10", "1.50", "true", "NULL", "a\nb", None]),
    "k": (pa.binary(), [b"a", b"\xff\x01", b"\xfe\x01", b"", None]),
    "d": (pa.date32(), [date(2026, 3, 29), date(2026, 3, 28), date(1582, 10, 4), date(9999, 12, 31), None]),
    "at": (pa.timestamp("us", "UTC"), [AT, AT + timedelta(microseconds=1), AT - timedelta(hours=30), None]),
    "w": (pa.timestamp("us"), [datetime(2026, 3, 29, 2, 30), datetime(2026, 3, 28, 23, 59, 59, 1), None]),  # noqa: DTZ001
    "t": (pa.string(), ["2026-03-29 23:30:00", "2026-03-29T12:00:00Z", "2026-03-30 00:30:00+05:00", "2026-3-9", None]),
}
"""Columns; `t` has times as texts."""
_TIMES: Final = ("2026-03-29", "2026-03-29 02:30:00", "2026-03-29 01:30:00")
LITERALS: Final[dict[str, tuple[str, ...]]] = {
    "i": ("0", "1", "-7", "2.0", "1.5"),
    "n": ("0", "9007199254740993", "9007199254740992.5", "1"),
    "m": ("1.5", "0", "-1234567.89", "10", "0.001"),
    "x": ("0", "-0.0", "0.1", "1.5", "1e300"),
    "f": ("0", "0.1", "1.5"),
    "b": ("true", "false"),
    **{name: tuple(f"'{value}'" for value in ("a", "A", "é", "", "10", "1.50", "z")) for name in ("s", "k")},
    **{name: tuple(f"'{value}'" for value in _TIMES) for name in ("d", "at", "w", "t")},
}
"""Values of rules, which YAML and SQL write alike."""
CONDITIONS: Final = (
    *("i > 0", "s = 'a'", "x IS NOT NULL", "to_date(at) = DATE'2026-03-29'", "hour(w) < 12", "b", "m / 3 > 0.5"),
    *("s LIKE 'a%' OR i = 1", "at >= TIMESTAMP'2026-03-29 02:00:00'", "i IN (1, 2, NULL)", "x > f", "NOT b AND n > 0"),
)
PATTERNS: Final = ("^a$", "^[0-9.]+$", "a", "^$", "(?i)A", r"\d", "é|true")
CHECKED: Final = {
    "sum(i)": ("SELECT 1", "SELECT CAST(NULL AS INT)", "SELECT 2L"),
    "max(x)": ("SELECT DOUBLE('NaN')", "SELECT 1.5", "SELECT 0.0"),
    "min(x)": ("SELECT -0.0D", "SELECT DOUBLE('-Infinity')", "SELECT 0.1"),
    "sum(m)": ("SELECT 1.5", "SELECT 0", "SELECT CAST(10 AS DECIMAL(20, 5))"),
    "max(d)": ("SELECT DATE'2026-03-29'", "SELECT DATE'9999-12-31'"),
    "max(at)": ("SELECT TIMESTAMP'2026-03-29 01:30:00Z'", "SELECT TIMESTAMP'2026-03-29 02:30:00'"),
    "max(k)": ("SELECT X'FF01'", "SELECT X'61'"),
    "min(s)": ("SELECT ''", "SELECT ' a'"),
    "count(*)": ("SELECT 3", "SELECT count(*) FROM courses WHERE course < 3"),
}


@dataclass(frozen=True)
class Case:
    """A rule of YAML, and the query that says the same: of each day the rows that break it, or whether it holds."""

    yaml: str
    query: str

    @property
    def is_verdict(self) -> bool:
        return "AS holds" in self.query


def counting(yaml: str, breaking: str, where: str = "") -> Case:
    condition = f" AND ({where})" if where else ""
    return Case(yaml, f"SELECT dt, count(*) AS figure FROM outside WHERE ({breaking}){condition} GROUP BY dt")


class Author:
    """Writes random rules."""

    def __init__(self, chance: Random, zone: str) -> None:
        self._chance, self._zone = chance, zone
        self._where = ""

    def all(self) -> list[Case]:
        """Rules of each kind, mostly one for all rows and one for some; of those with own queries one."""
        kinds = [self._not_null, self._unique, self._accepted, self._accepted, self._range, self._range]
        kinds += [self._pattern, self._expression, self._row_count, self._freshness]
        cases = []
        for kind in kinds:
            for place in range(2):
                self._where = self._chance.choice(CONDITIONS) if place and self._chance.random() < 0.7 else ""
                cases.append(kind())
        return [*cases, self._referential(), self._growth(), self._reconcile(), self._no_rows()]

    def _columns(self, most: int) -> list[str]:
        return self._chance.sample(list(VALUES), self._chance.randint(1, most))

    def _rule(self, name: str, **arguments: str) -> str:
        more = {**arguments, **({"where": f'"{self._where}"'} if self._where else {})}
        return f"{name}: {{{', '.join(f'{key}: {value}' for key, value in more.items())}}}"

    def _not_null(self) -> Case:
        columns = self._columns(3)
        yaml = self._rule("not_null", columns=f"[{', '.join(columns)}]")
        return counting(yaml, " OR ".join(f"{column} IS NULL" for column in columns), self._where)

    def _unique(self) -> Case:
        columns = self._columns(3)
        yaml = self._rule("unique", columns=f"[{', '.join(columns)}]")
        where = f" WHERE {self._where}" if self._where else ""
        groups = f"SELECT dt, count(*) AS n FROM outside{where} GROUP BY dt, {', '.join(columns)}"
        return Case(yaml, f"SELECT dt, sum(n - 1) AS figure FROM ({groups}) GROUP BY dt")

    def _accepted(self) -> Case:
        column = self._chance.choice(list(VALUES))
        some = self._chance.sample(LITERALS[column], self._chance.randint(1, 2))
        if column in "xf" and self._chance.random() < 0.3:
            yaml, sql = [*some, "NaN", "-Infinity"], [f"'{value}'" for value in (*some, "NaN", "-Infinity")]
        elif column in "inb" and self._chance.random() < 0.2:
            yaml = sql = [f"'{value}'" for value in some if "." not in value] or ["'1'"]
        else:
            yaml = sql = list(some)
        told = self._rule("accepted_values", column=column, values=f"[{', '.join(yaml)}]")
        return counting(told, f"{column} IS NOT NULL AND NOT {column} IN ({', '.join(sql)})", self._where)

    def _range(self) -> Case:
        column = self._chance.choice([name for name in VALUES if name != "b"])
        bounds = sorted(
            self._chance.sample(LITERALS[column], 2), key=lambda text: text.strip("'") if "'" in text else Decimal(text)
        )
        ends = self._chance.choice([bounds, [bounds[0], ""], ["", bounds[1]]])
        told = self._rule(
            "range", column=column, **{k: end for k, end in zip(("min", "max"), ends, strict=True) if end}
        )
        low, high = ends
        within = (
            f"{column} BETWEEN {low} AND {high}" if low and high else f"{column} {'>=' if low else '<='} {low or high}"
        )
        return counting(told, f"NOT ({within})", self._where)

    def _pattern(self) -> Case:
        column, pattern = self._chance.choice("sinxdt"), self._chance.choice(PATTERNS)
        told = self._rule("pattern", column=column, matches=f"'{pattern}'")
        return counting(told, f"NOT regexp_like(string({column}), r'{pattern}')", self._where)

    def _expression(self) -> Case:
        holds = self._chance.choice(CONDITIONS)
        return counting(self._rule("expression", holds=f'"{holds}"'), f"({holds}) = false", self._where)

    def _referential(self) -> Case:
        told = self._rule("referential", columns="[i]", entity="courses", key="[course]")
        return counting(told, "i IS NOT NULL AND i NOT IN (SELECT course FROM courses)", self._where)

    def _row_count(self) -> Case:
        low = self._chance.randint(0, 3)
        high = low + self._chance.randint(0, 4)
        filtered = f"count_if({self._where})" if self._where else "count(*)"
        query = f"SELECT dt, {filtered} BETWEEN {low} AND {high} AS holds FROM outside GROUP BY dt"
        return Case(self._rule("row_count", min=str(low), max=str(high)), query)

    def _growth(self) -> Case:
        query = "SELECT dt, abs(count(*) - 4) <= 0.5 * 4 AS holds FROM outside GROUP BY dt"
        return Case("row_count: {growth: 0.5}", query)

    def _freshness(self) -> Case:
        column, hours = self._chance.choice(("d", "at", "w", "t")), self._chance.randint(1, 40)
        newest = f"max(CAST({column} AS TIMESTAMP))" + (f" FILTER (WHERE {self._where})" if self._where else "")
        aged = f"CAST(date_add(dt, 1) AS TIMESTAMP) - {newest} <= INTERVAL '{hours}' HOUR"
        query = f"SELECT dt, coalesce({aged}, false) AS holds FROM outside GROUP BY dt"
        return Case(self._rule("freshness", column=column, within=f"{hours}h"), query)

    def _reconcile(self) -> Case:
        value = self._chance.choice(list(CHECKED))
        equals = self._chance.choice(CHECKED[value])
        is_near = value in ("sum(m)", "sum(i)") and self._chance.random() < 0.5
        told = f'reconcile: {{value: "{value}", equals: "{equals}"' + (", tolerance: 0.5}" if is_near else "}")
        near = f" OR coalesce(abs({value} - ({equals})) <= 0.5 * abs(({equals})), false)" if is_near else ""
        return Case(told, f"SELECT dt, ({value} <=> ({equals})){near} AS holds FROM outside GROUP BY dt")

    def _no_rows(self) -> Case:
        condition = self._chance.choice(CONDITIONS)
        told = f'query: {{no_rows: "SELECT s FROM slice_rows WHERE {condition} GROUP BY s"}}'
        groups = f"SELECT dt, s FROM outside WHERE {condition} GROUP BY dt, s"
        return Case(told, f"SELECT dt, false AS holds FROM ({groups}) GROUP BY dt")


def random_table(chance: Random, days: Sequence[date]) -> pa.Table:
    dated = [day for day in days for _ in range(chance.randint(1, 7))]
    columns = {name: pa.array(chance.choices(some, k=len(dated)), kind) for name, (kind, some) in VALUES.items()}
    return pa.table({**columns, "dt": pa.array(dated, pa.date32())})


def asked(spark: SparkSession, case: Case) -> dict[date, Any] | None:
    """The query's answer by day; None if Spark refuses the query."""
    try:
        return {row[0]: row[1] for row in spark.sql(case.query).collect()}
    except PySparkException:
        return None


@dataclass
class ZonedAround(Around):
    """The surroundings of slices of one zone."""

    zone: str = "UTC"

    def end_of(self, slice_: Slice) -> datetime:
        after = date.fromisoformat(slice_.key) + timedelta(days=1)
        return datetime(after.year, after.month, after.day, tzinfo=ZoneInfo(self.zone))


def rules_mean_what_sql_says(spark: SparkSession, seed: int, tables: int) -> int:
    """How many verdicts were false."""
    chance = Random(seed)
    zone, days = chance.choice(ZONES), [FIRST + timedelta(days=number) for number in range(tables)]
    cases = Author(chance, zone).all()
    declared = entity("outside", "period: day\nquality:\n" + "".join(f"- {case.yaml}\n" for case in cases)).quality
    names, broken = check_names(declared), 0
    # The statistics of a cached table do not count NaN: Spark would skip rows with it.
    unskipped = {"spark.sql.inMemoryColumnarStorage.partitionPruning": "false"}
    with settings(spark, {"spark.sql.session.timeZone": zone, **unskipped}):
        rows = of_arrow(spark, random_table(chance, days)).cache()
        rows.createOrReplaceTempView("outside")
        spark.createDataFrame([(course,) for course in range(1, 7)], "course INT").createOrReplaceTempView("courses")
        slices = {(day,): Slice("outside", day.isoformat()) for day in days}
        around = ZonedAround(spark, {day.isoformat(): 4 for day in days}, zone=zone)
        told = audit(declared, rows, slices, cast("Surroundings", around))
        answers = [asked(spark, case) for case in cases]
    for (day,), slice_ in slices.items():
        for name, case, answer, check in zip(names, cases, answers, told[slice_].checks, strict=True):
            where = (seed, zone, str(day), name, case.yaml, check.reason)
            assert check.is_unknown == (answer is None), where
            if answer is None:
                continue
            expected = answer.get(day, True) if case.is_verdict else answer.get(day, 0)
            actual = check.passed if case.is_verdict else int(check.reason.partition(" ")[0])
            assert actual == expected, (*where, expected)
            assert check.passed == (expected is True or (expected == 0 and not case.is_verdict)), where
            broken += not check.passed
    rows.unpersist()
    return broken


def test_the_newest_of_texts_is_the_newest_time(spark: SparkSession) -> None:
    texts = pa.table({"t": ["2026-3-9", "2026-03-29 23:30:00+00:00", "2026-03-30 00:30:00+05:00"]})
    made = measure("freshness", Freshness("t", timedelta(hours=1)))
    assert made is not None
    (row,) = of_arrow(spark, texts).selectExpr(f"timestamp_micros({made.expression}) AS newest").collect()
    assert row.newest.astimezone(UTC) == datetime(2026, 3, 29, 23, 30, tzinfo=UTC)


@pytest.mark.long
@pytest.mark.parametrize("first", chunks(0, CHUNK, MANY))
def test_every_rule_is_its_query(spark: SparkSession, first: int) -> None:
    rounds = range(first, first + CHUNK, AT_ONCE)
    broken = sum(rules_mean_what_sql_says(spark, seed, AT_ONCE) for seed in rounds)
    assert broken > CHUNK
