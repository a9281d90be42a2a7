"""DataFrame programs made from known offsets, written in many ways; the business time is a Python value in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from random import Random
from typing import TYPE_CHECKING

from pyspark.sql import Column, Window
from pyspark.sql import functions as F

from tidemark.dependency_model.offset import Offset

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame

Condition = Callable[[Column, date], Column]
"""On a partition column `dt`, at a business date."""
TABLES = ("d_orders", "d_clicks", "d_users")


@dataclass(frozen=True)
class Program:
    """What it computes of its inputs, and the offsets of those that it reads."""

    compute: Callable[[Mapping[str, DataFrame], date], DataFrame]
    offsets: Mapping[str, Offset]


def generate(seed: int) -> Program:
    random = Random(seed)
    names = random.sample(TABLES, k=random.randint(1, 3))
    chosen = [random.choice((_set, _range, _to_date))(random) for _ in names]
    parts = [_part(random, condition) for _, condition in chosen]
    joined = [random.choice(_JOINED) for _ in names[1:]]

    def compute(inputs: Mapping[str, DataFrame], day: date) -> DataFrame:
        frame = parts[0](inputs[names[0]], day)
        for name, part, join in zip(names[1:], parts[1:], joined, strict=True):
            frame = join(frame, part(inputs[name], day)).select("u", "x")
        return frame

    return Program(compute, {name: Offset.parse(offset) for name, (offset, _) in zip(names, chosen, strict=True)})


def _days(random: Random, count: int) -> Callable[[date], Column]:
    """So many days from the business date: counted in Python, or in Spark."""
    ways: list[Callable[[date], Column]] = [
        lambda day: F.lit(day + timedelta(count)),
        lambda day: F.date_add(F.lit(day), count),
        lambda day: F.date_sub(F.lit(day), -count),
        lambda day: F.lit((day + timedelta(count)).isoformat()).cast("date"),
        lambda day: F.lit(day) + F.expr(f"INTERVAL {count} DAYS"),
        lambda day: F.to_date(F.lit(f"{day + timedelta(count):%Y%m%d}"), "yyyyMMdd"),
    ]
    return random.choice(ways)


def _set(random: Random) -> tuple[str, Condition]:
    counts = sorted(random.sample(range(-60, 9), k=random.randint(1, 4)))
    days = [_days(random, count) for count in random.sample(counts, k=len(counts))]

    def either(dt: Column, day: date) -> Column:
        condition = dt == days[0](day)
        for other in days[1:]:
            condition = condition | (other(day) == dt)
        return condition

    ways: list[Condition] = [
        either,
        lambda dt, day: ~(~either(dt, day)),
        lambda dt, day: dt.isin([day + timedelta(count) for count in counts]),
        lambda dt, day: F.coalesce(either(dt, day), F.lit(False)),  # noqa: FBT003 - its parameter has no name
        lambda dt, day: F.when(either(dt, day), 1).otherwise(0) == 1,
    ]
    return f"Set {','.join(map(str, counts))}", random.choice(ways)


def _range(random: Random) -> tuple[str, Condition]:
    first = random.randint(-60, 5)
    last = first + random.randint(0, 30)
    low, high, after = (_days(random, count) for count in (first, last, last + 1))
    ways: list[Condition] = [
        lambda dt, day: dt.between(low(day), high(day)),
        lambda dt, day: (dt >= low(day)) & (dt < after(day)),
        lambda dt, day: ~((dt < low(day)) | (dt > high(day))),
        lambda dt, day: F.datediff(dt, F.lit(day)).between(first, last),
    ]
    return f"Range {first}..{last}", random.choice(ways)


def _to_date(random: Random) -> tuple[str, Condition]:
    unit = random.choice(["week", "month", "quarter", "year"])
    ways: list[Condition] = [
        lambda dt, day: (dt >= F.date_trunc(unit, F.lit(day))) & (dt <= day),
        lambda dt, day: (F.trunc(dt, unit) == F.trunc(F.lit(day), unit)) & (dt <= F.lit(day)),
    ]
    return f"to_date {unit}", random.choice(ways)


def _part(random: Random, condition: Condition) -> Callable[[DataFrame, date], DataFrame]:
    """One input and its filter: beside it, above it, behind a group, a window, a union."""
    dt = F.col("dt")
    window = Window.partitionBy("dt")
    ways: list[Callable[[DataFrame, date], DataFrame]] = [
        lambda table, day: table.where(condition(dt, day)),
        lambda table, day: (
            table.where(F.col("x") > 0).select("u", "x", dt.alias("d")).where(condition(F.col("d"), day))
        ),
        lambda table, day: table.groupBy("u", "dt").agg(F.sum("x").alias("x")).where(condition(dt, day)),
        lambda table, day: table.withColumn("n", F.max("x").over(window)).where(condition(dt, day)),
        lambda table, day: table.unionByName(table.where(F.col("x") > 1)).where(condition(dt, day)),
        lambda table, day: table.select("dt", "u", "x").union(table.select("dt", "u", "x")).where(condition(dt, day)),
        lambda table, day: table.distinct().orderBy("u").where(condition(dt, day)),
        lambda table, day: table.dropDuplicates(["dt", "u"]).where(condition(dt, day)),
        lambda table, day: (
            table.alias("a").where(condition(F.col("a.dt"), day)).groupBy("u").agg(F.max("x").alias("x"))
        ),
        lambda table, day: table.withColumn("y", F.explode(F.array("x", "x"))).where(condition(dt, day)),
        lambda table, day: table.where(condition(dt, day)).limit(3),
    ]
    return random.choice(ways)


_JOINED: list[Callable[[DataFrame, DataFrame], DataFrame]] = [
    lambda left, right: left.join(right.select("u"), "u"),
    lambda left, right: left.join(right.select("u", F.col("x").alias("z")), "u", "left"),
    lambda left, right: left.select("u").join(right.select("u", "x"), "u", "right"),
    lambda left, right: left.join(right.select("u"), "u", "full"),
    lambda left, right: left.join(right, "u", "left_semi"),
    lambda left, right: left.join(right, "u", "left_anti"),
    lambda left, right: left.crossJoin(right.select(F.col("x").alias("z"))),
    lambda left, right: left.select("u", "x").union(right.select("u", "x")),
    lambda left, right: left.select("u", "x").exceptAll(right.select("u", "x")),
    lambda left, right: left.select("u", "x").intersect(right.select("u", "x")),
]
