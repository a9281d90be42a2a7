"""Queries made from known offsets, written in many ways: `python -m tests.dependency_model.lineage.generated 20000`.

A second number is the first seed, so that the cases can be cut into pieces.
"""

# ruff: noqa: S608 - the queries are made up here, and nobody runs them

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from tests.dependency_model.lineage.worlds import PARIS, START, SUBJECTS
from tidemark.dependency_model.lineage.entity_outline import EntityOutline, QuerySession
from tidemark.dependency_model.lineage.inference import infer
from tidemark.dependency_model.lineage.parsed_query import read_query
from tidemark.dependency_model.offset import Offset, mapping_between
from tidemark.dependency_model.time import Period
from tidemark.dependency_model.time.sample_slices import sparse_slices

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

DAYS = ("d_orders", "d_clicks", "d_users", "d_returns")
TABLES = {
    Period.DAY: DAYS,
    Period.HOUR: ("h_clicks", "h_orders"),
    Period.MONTH: ("m_targets",),
    Period.WEEK: ("w_sales",),
}


@dataclass(frozen=True)
class Generated:
    """A query, the entity's period, and the offsets of each table that it reads."""

    sql: str
    down: Period
    offsets: dict[str, tuple[str, ...]]


def generate(seed: int) -> Generated:
    random = Random(seed)
    down, up = random.choice(PAIRS)
    names = random.sample(TABLES[up], k=min(len(TABLES[up]), random.randint(1, 3)))
    offsets: dict[str, tuple[str, ...]] = {}
    filters: list[tuple[str, str]] = []
    for name in names:
        offset, condition = random.choice(OFFSETS[down, up])(random)
        offsets[name] = (offset,)
        filters.append((name, condition))
    return Generated(_query(random, filters), down, offsets)


def _shift(random: Random, count: int) -> str:
    """`:biz_date` and so many days, in one of the ways to say so."""
    if count == 0:
        return random.choice([":biz_date", "date_add(:biz_date, 0)", "to_date(:biz_date)"])
    ways = [
        f"date_add(:biz_date, {count})",
        f"date_sub(:biz_date, {-count})",
        f"dateadd(DAY, {count}, :biz_date)",
        f"cast(:biz_date AS DATE) {'+' if count > 0 else '-'} {abs(count)}",
        f":biz_date {'+' if count > 0 else '-'} INTERVAL {abs(count)} DAYS",
        f"date_add(date_sub(:biz_date, {abs(count)}), {count + abs(count)})",
    ]
    return random.choice(ways)


def _set(random: Random) -> tuple[str, str]:
    counts = sorted(random.sample(range(-400, 30), k=random.randint(1, 4)))
    return f"Set {','.join(map(str, counts))}", _one_of(random, [_shift(random, count) for count in counts])


def _one_of(random: Random, options: Sequence[str]) -> str:
    shuffled = random.sample(options, k=len(options))
    if random.random() < 0.5:
        return f"@dt IN ({', '.join(shuffled)})"
    text = " OR ".join(f"@dt = {day}" if random.random() < 0.5 else f"{day} = @dt" for day in shuffled)
    return random.choice([f"({text})", f"NOT (NOT ({text}))"])


def _range(random: Random) -> tuple[str, str]:
    first = random.randint(-90, 20)
    last = first + random.randint(0, 45)
    low, high, after, before = (_shift(random, count) for count in (first, last, last + 1, first - 1))
    condition = random.choice(
        [
            f"@dt BETWEEN {low} AND {high}",
            f"(@dt >= {low} AND @dt < {after})",
            f"(@dt > {before} AND NOT @dt > {high})",
            f"NOT (@dt < {low} OR @dt > {high})",
            f"datediff(@dt, :biz_date) BETWEEN {first} AND {last}",
            f"(@dt BETWEEN {low} AND {high} AND (x > 1 OR x IS NULL OR NOT x > 1))",
        ]
    )
    return f"Range {first}..{last}", condition


def _to_date(random: Random) -> tuple[str, str]:
    unit = random.choice(["week", "month", "quarter", "year"])
    ways = [f"date_trunc('{unit}', :biz_date)", f"trunc(:biz_date, '{unit}')"]
    condition = f"@dt >= {random.choice(ways)} AND @dt <= {_shift(random, 0)}"
    same = f"trunc(@dt, '{unit}') = trunc(:biz_date, '{unit}') AND @dt <= :biz_date"
    return f"to_date {unit}", f"({random.choice([condition, same])})"


def _all_of_month(random: Random) -> tuple[str, str]:
    ways = [
        "@dt BETWEEN :biz_date AND last_day(:biz_date)",
        "trunc(@dt, 'MM') = :biz_date",
        "(@dt >= :biz_date AND @dt < add_months(:biz_date, 1))",
        "(@dt >= to_date(:period_start) AND @dt < to_date(:period_end))",
        "date_format(@dt, 'yyyy-MM') = date_format(:biz_date, 'yyyy-MM')",
    ]
    return "all", random.choice(ways)


def _all_of_week(random: Random) -> tuple[str, str]:
    ways = ["@dt BETWEEN :biz_date AND date_add(:biz_date, 6)", "date_trunc('week', @dt) = :biz_date"]
    return "all", random.choice(ways)


def _hours_of_day(random: Random) -> tuple[str, str]:
    first = random.randint(0, 23)
    last = random.randint(first, 23)
    last = max(last, first)
    if (first, last) == (0, 23):
        return "all", "@dt = :biz_date"
    condition = random.choice(
        [
            f"@hour BETWEEN '{first:02}' AND '{last:02}~'",
            f"(@hour >= '{first:02}' AND substring(@hour, 1, 2) <= '{last:02}')",
            f"left(@hour, 2) IN ({', '.join(repr(f'{hour:02}') for hour in range(first, last + 1))})",
        ]
    )
    return f"Range {first}..{last}", f"(@dt = {_shift(random, 0)} AND {condition})"


def _same_hour(random: Random) -> tuple[str, str]:
    return "Set 0", random.choice(
        ["(@dt = :biz_date AND @hour = :biz_hour)", "NOT (@dt <> :biz_date OR @hour <> :biz_hour)"]
    )


def _hours_so_far(random: Random) -> tuple[str, str]:
    return "to_date day", random.choice(
        ["(@dt = :biz_date AND @hour <= :biz_hour)", "(@dt = :biz_date AND NOT @hour > :biz_hour)"]
    )


def _months(random: Random) -> tuple[str, str]:
    first = random.randint(-30, 3)
    last = first + random.randint(0, 12)
    return (
        f"Range {first}..{last}",
        f"@dt BETWEEN add_months(:biz_date, {first}) AND add_months(:biz_date, {last})",
    )


def _weeks(random: Random) -> tuple[str, str]:
    counts = sorted(random.sample(range(-60, 6), k=random.randint(1, 3)))
    options = [_shift(random, 7 * count) for count in counts]
    return f"Set {','.join(map(str, counts))}", _one_of(random, options)


def _month_of_day(random: Random) -> tuple[str, str]:
    count = random.randint(-14, 2)
    return f"Set {count}", f"@dt = add_months(trunc(:biz_date, 'month'), {count})"


def _days_of_hours(random: Random) -> tuple[str, str]:
    first = random.randint(-40, 1)
    last = first + random.randint(0, 12)
    low, high = _shift(random, first), _shift(random, last)
    days = f"{first}..{last}" if last - first > 1 else ",".join(map(str, range(first, last + 1)))
    ways = [f"@dt BETWEEN {low} AND {high}", f"(@dt >= {low} AND NOT @dt > {high})"]
    return f"all day {days}", random.choice(ways)


def _hour_of_days(random: Random) -> tuple[str, str]:
    days = sorted(random.sample(range(-30, 1), k=random.randint(1, 3)))
    condition = f"{_one_of(random, [_shift(random, day) for day in days])} AND @hour = :biz_hour"
    return f"date {','.join(map(str, days))} day", f"({condition})"


def _periods(random: Random) -> tuple[str, str]:
    unit, months = random.choice([("month", 1), ("quarter", 3), ("year", 12)])
    count = random.randint(-4, 1)
    moved = f"add_months(:biz_date, {count * months})"
    start = random.choice([f"trunc({moved}, '{unit}')", f"to_date(date_trunc('{unit}', {moved}))"])
    after = f"add_months({start}, {months})"
    ways = [f"trunc(@dt, '{unit}') = {start}", f"(@dt >= {start} AND @dt < {after})"]
    return f"all {unit} {count}", random.choice(ways)


def _places(random: Random) -> tuple[str, str]:
    unit, months = random.choice([("month", 1), ("quarter", 3), ("year", 12)])
    count = random.randint(-3, 1)
    start = f"trunc(add_months(:biz_date, {count * months}), '{unit}')"
    place = random.randint(0, 27)
    return random.choice(
        [
            (f"first of {unit} {count}", f"@dt = {start}"),
            (f"last of {unit} {count}", f"@dt = date_sub(add_months({start}, {months}), 1)"),
            (f"Set {place} of {unit} {count}", f"@dt = date_add({start}, {place})"),
        ]
    )


def _dates(random: Random) -> tuple[str, str]:
    months = sorted(random.sample(range(-25, 1), k=random.randint(1, 3)))
    options = [f"add_months(:biz_date, {count})" for count in months]
    return f"date {','.join(map(str, months))} month", _one_of(random, options)


OFFSETS: dict[tuple[Period, Period], list[Callable[[Random], tuple[str, str]]]] = {
    (Period.DAY, Period.DAY): [_set, _range, _to_date, _periods, _places, _dates],
    (Period.MONTH, Period.DAY): [_all_of_month, _periods],
    (Period.WEEK, Period.DAY): [_all_of_week, _range, _set],
    (Period.DAY, Period.HOUR): [_hours_of_day, _days_of_hours],
    (Period.HOUR, Period.HOUR): [_same_hour, _hours_so_far, _hour_of_days],
    (Period.HOUR, Period.DAY): [_set],
    (Period.MONTH, Period.MONTH): [_months],
    (Period.WEEK, Period.WEEK): [_weeks],
    (Period.DAY, Period.MONTH): [_month_of_day],
}
PAIRS = [pair for pair in OFFSETS for _ in range(6 if pair[0] is pair[1] is Period.DAY else 1)]


def _query(random: Random, filters: Sequence[tuple[str, str]]) -> str:
    """The tables joined or united, each filter put where it restricts its table."""
    parts = [_part(random, name, condition, at) for at, (name, condition) in enumerate(filters)]
    text = parts[0]
    for part in parts[1:]:
        text = random.choice(
            [
                f"SELECT l.u, l.x FROM ({text}) AS l JOIN ({part}) AS r ON r.u = l.u",
                f"SELECT l.u, l.x FROM ({text}) AS l LEFT JOIN ({part}) AS r ON r.u = l.u AND r.x > 0",
                f"SELECT l.u, r.x FROM ({part}) AS r RIGHT JOIN ({text}) AS l USING (u)",
                f"SELECT u, x FROM ({text}) UNION ALL SELECT u, x FROM ({part})",
                f"SELECT u, x FROM ({text}) EXCEPT SELECT u, x FROM ({part})",
                f"SELECT u, x FROM ({text}) AS l WHERE EXISTS (SELECT 1 FROM ({part}) AS r WHERE r.u = l.u)",
                f"SELECT u, x FROM ({text}) AS l WHERE u NOT IN (SELECT u FROM ({part}) AS r)",
                f"SELECT u, x, (SELECT max(x) FROM ({part}) AS r) AS most FROM ({text}) AS l",
                f"WITH a AS ({text}), b AS ({part}) SELECT u, sum(b.x) AS x FROM a FULL JOIN b USING (u) GROUP BY u",
            ]
        )
    return text


def _part(random: Random, name: str, condition: str, at: int) -> str:
    """One table and its filter: beside it, above it, behind a CTE, a join to itself, a group or a window."""
    clock = ", hour" if name.startswith("h_") else ""
    keys = f"dt{clock}"

    def of(alias: str) -> str:
        return condition.replace("@", f"{alias}." if alias else "")

    window = f"PARTITION BY {keys}"
    inner = f"SELECT u, x, {keys} FROM {name}"
    return random.choice(
        [
            f"SELECT u, x FROM {name} WHERE {of('')}",
            f"SELECT t{at}.u, t{at}.x FROM {name} AS t{at} WHERE t{at}.x > 0 AND {of(f't{at}')}",
            f"SELECT u, x FROM ({inner}) AS d WHERE {of('d')}",
            f"SELECT u, x FROM (SELECT u, sum(x) AS x, {keys} FROM {name} GROUP BY u, {keys}) WHERE {of('')}",
            f"SELECT u, x FROM ({inner} UNION ALL {inner}) AS d WHERE {of('d')}",
            f"SELECT u, max(x) AS x FROM {name} WHERE {of('')} GROUP BY u HAVING count(*) > 1",
            f"SELECT u, n AS x FROM (SELECT u, x, {keys}, max(x) OVER ({window}) AS n FROM {name}) WHERE {of('')}",
            f"SELECT u, sum(x) OVER (PARTITION BY u ORDER BY dt ROWS 3 PRECEDING) AS x FROM {name} WHERE {of('')}",
            f"SELECT DISTINCT u, x FROM (SELECT DISTINCT u, x, {keys} FROM {name}) WHERE {of('')}",
        ]
    )


def verdict(case: Generated) -> str:
    """Empty where the offsets come back; else what came."""
    downstream = EntityOutline("downstream", case.down, PARIS, START)
    reads = infer([read_query(case.sql)], downstream, SUBJECTS, session=QuerySession("Europe/Paris"))
    for name, offsets in case.offsets.items():
        read = reads[name]
        if read.undecidable or not _same(case.down, name, offsets, [str(offset) for offset in read.offsets]):
            return f"{name}: expected {offsets}, found {read}"
    return "" if reads.keys() == case.offsets.keys() else f"tables {list(reads)}"


def _same(down: Period, name: str, ours: Sequence[str], theirs: Sequence[str]) -> bool:
    period = SUBJECTS[name].period
    assert period is not None
    up = PARIS.grid(period)
    named = [
        [mapping_between(Offset.parse(offset), (PARIS, down), up) for offset in offsets] for offsets in (ours, theirs)
    ]
    return all(
        {up for mapping in named[0] for up in mapping.expand(time)}
        == {up for mapping in named[1] for up in mapping.expand(time)}
        for time in sparse_slices(PARIS, down, START, closely=False)
    )


def failures(first: int, count: int) -> list[tuple[int, str, str]]:
    """(seed, query, what came) of the cases that do not come back."""
    result = []
    for seed in range(first, first + count):
        case = generate(seed)
        wrong = verdict(case)
        if wrong:
            result.append((seed, case.sql, wrong))
    return result


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    wrong = failures(first, count)
    for seed, sql, what in wrong[:20]:
        print(f"{seed}: {what}\n  {sql}")
    kinds = Counter(generate(seed).down.value for seed in range(first, first + count))
    print(f"{count - len(wrong)} of {count} come back, by the period of the entity: {dict(kinds)}")
    raise SystemExit(bool(wrong))


if __name__ == "__main__":
    main()
