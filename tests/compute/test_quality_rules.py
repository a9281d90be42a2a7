"""Every rule against the same rule in plain Python, over random slices that are judged in one scan."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, cast

import pytest

from tidemark.compute.quality_checks import audit
from tidemark.dependency_model.entity.quality_rules import (
    AcceptedValues,
    Expression,
    Freshness,
    NoRows,
    NotNull,
    Pattern,
    QualityRule,
    Referential,
    RowCount,
    Unique,
    WithinRange,
    check_names,
)
from tidemark.dependency_model.slice import Slice

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from tidemark.compute.quality_checks import Audit
    from tidemark.compute.rule_surroundings import Surroundings

pytestmark = pytest.mark.spark

SCHEMA: Final = "id INT, kind STRING, amount DOUBLE, code STRING, at TIMESTAMP, dt DATE"
DAYS: Final = tuple(date(2026, 3, 1) + timedelta(days=number) for number in range(14))
COURSES: Final = (1, 2, 3, 4, 5, 6)
Row = dict[str, Any]


@dataclass
class Around:
    """What rules look at beside the rows, made up: yesterday's rows are told here."""

    spark: SparkSession
    before: Mapping[str, int] = field(default_factory=dict)
    inputs: Around = field(init=False)

    def __post_init__(self) -> None:
        self.inputs = self

    def now_counted(self, rows: Mapping[Slice, int]) -> None:
        """Nothing: `before` tells."""

    def end_of(self, slice_: Slice) -> datetime:
        return end_of(date.fromisoformat(slice_.key))

    def rows_before(self, slice_: Slice) -> int | None:
        return self.before.get(slice_.key)

    def rows_of_same_weekday(self, slice_: Slice) -> float | None:
        return self.before.get(slice_.key)

    def register(self, _: Slice) -> None:
        """The views are there."""

    def view(self, name: str, _: Slice) -> DataFrame:
        return self.spark.createDataFrame([(course,) for course in COURSES], "course INT").where(
            f"'{name}' = 'courses'"
        )

    def sql(self, text: str, _: Slice) -> DataFrame:
        return self.spark.sql(text)


def end_of(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(days=1)


def repeated(values: Sequence[object]) -> bool:
    return len(set(values)) < len(values)


RULES: Final[Sequence[tuple[QualityRule, Callable[[date, list[Row], int | None], bool]]]] = (
    (NotNull(("id", "kind")), lambda _, rows, __: all(None not in (row["id"], row["kind"]) for row in rows)),
    (
        NotNull(("id",), where="kind = 'a'"),
        lambda _, rows, __: all(row["id"] is not None for row in rows if row["kind"] == "a"),
    ),
    (Unique(("id", "kind")), lambda _, rows, __: not repeated([(row["id"], row["kind"]) for row in rows])),
    (
        Unique(("id",), where="amount > 50", severity="warn"),
        lambda _, rows, __: not repeated([row["id"] for row in rows if (row["amount"] or 0) > 50]),
    ),
    (AcceptedValues("kind", ("a", "b")), lambda _, rows, __: {row["kind"] for row in rows} <= {"a", "b", None}),
    (
        WithinRange("amount", 0, 90.5),
        lambda _, rows, __: all(row["amount"] is None or 0 <= row["amount"] <= 90.5 for row in rows),
    ),
    (
        WithinRange("at", max="2026-03-10 00:00:00"),
        lambda _, rows, __: all(row["at"] is None or row["at"] <= datetime(2026, 3, 10, tzinfo=UTC) for row in rows),
    ),
    (
        Pattern("code", r"^[A-Z]\d+$"),
        lambda _, rows, __: all(row["code"] is None or re.search(r"^[A-Z]\d+$", row["code"]) for row in rows),
    ),
    (
        Expression("amount > id", where="kind IS NOT NULL"),
        lambda _, rows, __: all(
            row["amount"] is None or row["id"] is None or row["amount"] > row["id"] for row in rows if row["kind"]
        ),
    ),
    (RowCount(1, 5), lambda _, rows, __: 1 <= len(rows) <= 5),
    (RowCount(where="kind = 'a'", min=1), lambda _, rows, __: any(row["kind"] == "a" for row in rows)),
    (RowCount(growth=0.5), lambda _, rows, before: before is None or abs(len(rows) - before) <= 0.5 * before),
    (
        Freshness("at", timedelta(hours=6)),
        lambda day, rows, __: any(row["at"] and end_of(day) - row["at"] <= timedelta(hours=6) for row in rows),
    ),
    (
        Referential(("id",), "courses", ("course",)),
        lambda _, rows, __: all(row["id"] is None or row["id"] in COURSES for row in rows),
    ),
    (
        NoRows("SELECT kind FROM slice_rows GROUP BY kind HAVING sum(amount) > 150"),
        lambda _, rows, __: no_big_kind(rows),
    ),
)


def no_big_kind(rows: list[Row]) -> bool:
    kinds = {row["kind"] for row in rows}
    return all(sum(row["amount"] or 0 for row in rows if row["kind"] == kind) <= 150 for kind in kinds)


def random_rows(chance: random.Random, day: date) -> list[Row]:
    def some(*values: Any) -> Any:
        return chance.choice([*values, *values, *values, None])

    start = end_of(day) - timedelta(days=1)
    return [
        {
            "id": some(*range(1, chance.choice([6, 7, 8]))),
            "kind": some("a", "b", *["c"] * chance.randrange(2)),
            "amount": some(chance.uniform(5, 91), chance.choice([-1.0, 70.0, 95.0])),
            "code": some("A1", chance.choice(["B22", "b2", "C"])),
            "at": some(start + timedelta(minutes=chance.randrange(24 * 60))),
            "dt": day,
        }
        for _ in range(chance.randrange(7))
    ]


def judged(
    spark: SparkSession, rules: Sequence[QualityRule], contents: Mapping[date, list[Row]], before: Mapping[str, int]
) -> dict[Slice, Audit]:
    everything = [tuple(row.values()) for rows in contents.values() for row in rows]
    slices = {(day,): Slice("t", day.isoformat()) for day in contents}
    frame = spark.createDataFrame(everything, SCHEMA)
    return audit(rules, frame, slices, cast("Surroundings", Around(spark, before)))


def test_every_rule_agrees_with_its_plain_reference(spark: SparkSession) -> None:
    chance = random.Random(2)
    contents = {day: random_rows(chance, day) for day in DAYS}
    before = {day.isoformat(): chance.randrange(1, 7) for day in DAYS[::2]}
    audits = judged(spark, [rule for rule, _ in RULES], contents, before)
    verdicts = set()
    for day, rows in contents.items():
        told = audits[Slice("t", day.isoformat())]
        expected = [bool(holds(day, rows, before.get(day.isoformat()))) for _, holds in RULES]
        assert [check.passed for check in told.checks] == expected, (day, rows, told)
        assert not any(check.is_unknown for check in told.checks)
        names = check_names([rule for rule, _ in RULES])
        broken = {
            name
            for name, (rule, _), held in zip(names, RULES, expected, strict=True)
            if not held and rule.severity == "block"
        }
        assert set(told.broken) == broken
        verdicts |= {(name, held) for name, held in zip(names, expected, strict=True)}
    assert len(verdicts) == 2 * len(RULES), "a rule held, or did not, in every slice"


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        (Expression("id / (amount - amount) > 0"), "DIVIDE_BY_ZERO"),
        (NotNull(("nothing",)), "UNRESOLVED_COLUMN"),
        (NoRows("SELECT * FROM nowhere"), "TABLE_OR_VIEW_NOT_FOUND"),
    ],
)
def test_a_crashed_rule_is_unknown_and_the_others_have_results(
    spark: SparkSession, rule: QualityRule, says: str
) -> None:
    row = {"id": 1, "kind": "a", "amount": 7.0, "code": "A1", "at": end_of(DAYS[0]), "dt": DAYS[0]}
    rules = [NotNull(("id",)), rule, AcceptedValues("kind", ("b",), severity="warn"), RowCount(1)]
    (told,) = judged(spark, rules, {DAYS[0]: [row]}, {}).values()
    assert [(check.passed, check.is_unknown) for check in told.checks] == [
        (True, False),
        (False, True),
        (False, False),
        (True, False),
    ]
    assert list(told.broken) == [told.checks[1].name]
    assert re.search(f"unknown, as the rule crashed: .*{says}", told.checks[1].reason)


def test_a_warning_that_crashes_keeps_nothing_back(spark: SparkSession) -> None:
    row = {"id": 1, "kind": "a", "amount": 7.0, "code": "A1", "at": end_of(DAYS[0]), "dt": DAYS[0]}
    (told,) = judged(spark, [NotNull(("nothing",), severity="warn")], {DAYS[0]: [row]}, {}).values()
    assert (told.checks[0].is_unknown, told.checks[0].passed, told.blocks) == (True, False, False)
