"""Days of a shop as profiles: weekly rhythm, growth, holidays, noise, and the faults that are seeded into them.

Orders of four shards with numbers in sequence (a few are left out: transactions rolled back); the cleaned orders that
are made of them, two in a hundred dropped; and sums by city. Figures come from rows: quantiles by the sketch, distinct
values counted and moved by the sketch's standard error, frequent values counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from benchmarks.profile.sketched import quantile_sketch
from tidemark.dependency_model.profile.comparison import DatedFigures
from tidemark.dependency_model.profile.figures import RANKS, SHOWN_FREQUENT, ColumnFigures, SliceFigures
from tidemark.dependency_model.profile.history import is_special_day
from tidemark.dependency_model.profile.sketches import DISTINCT_ERROR, FrequentValue, quantiles
from tidemark.dependency_model.profile.slice_profile import ColumnKind
from tidemark.dependency_model.time.window import Window

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

CALENDAR: Final = "FR"
FIRST: Final = date(2025, 9, 1)
BASE_ROWS: Final = 20_000
_SHARDS, _CITIES, _DAY = 4, 20, 86_400
_WEEK: Final = (1.0, 0.97, 1.02, 1.05, 1.12, 1.35, 0.8)
_GROWTH: Final = 0.004
"""A day."""

Rows = dict[str, "NDArray[Any]"]


@dataclass(frozen=True)
class Day:
    """One clean day: `orders` as rows, columns by name; `day` counts from the first one."""

    day: int
    orders: Rows

    @property
    def date(self) -> date:
        return FIRST + timedelta(days=self.day)


class Shop:
    """A shop by a seed; its days come in order."""

    def __init__(self, seed: int) -> None:
        self._chance = np.random.default_rng(seed)
        self._next_number = 1
        self._cities = self._chance.dirichlet(np.arange(_CITIES, 0, -1) * 40.0)

    def days(self, count: int) -> list[Day]:
        return [Day(number, self._orders(number)) for number in range(count)]

    def _orders(self, day: int) -> Rows:
        chance, when = self._chance, FIRST + timedelta(days=day)
        holiday = is_special_day(CALENDAR, when)
        rows = int(
            BASE_ROWS
            * (1 + _GROWTH) ** day
            * _WEEK[when.weekday()]
            * (chance.uniform(0.35, 1.1) if holiday else 1.0)
            * chance.lognormal(0, 0.04)
        )
        weekend = when.weekday() > 4
        numbers = self._next_number + np.cumsum(1 + (chance.random(rows) < 0.002))
        self._next_number = int(numbers[-1])
        shares = chance.dirichlet(self._cities * 40_000)
        hours = chance.beta(2.6, 1.8, rows)
        return {
            "id": numbers,
            "shard": chance.integers(0, _SHARDS, rows),
            "city": chance.choice(_CITIES, rows, p=shares),
            "amount": np.round(chance.lognormal(3.2 + 0.08 * weekend + chance.normal(0, 0.01), 0.7, rows), 2),
            "user_id": chance.integers(0, 15_000, rows),
            "coupon": np.where(
                chance.random(rows) < 0.3 + chance.normal(0, 0.004), np.nan, chance.integers(0, 9, rows)
            ),
            "created_at": day * _DAY + np.floor(hours * _DAY),
        }


def cleaned(orders: Rows, seed: int) -> Rows:
    """What is made of the orders: two in a hundred are dropped."""
    return pick(orders, np.random.default_rng(seed).random(len(orders["id"])) >= 0.02)


def pick(rows: Rows, kept: NDArray[Any]) -> Rows:
    """Some rows, by a mask or by their places."""
    return {name: values[kept] for name, values in rows.items()}


def with_fault(rows: Rows, fault: str, seed: int) -> Rows:
    """The same rows with one fault of the kinds in FAULTS."""
    return FAULTS[fault](rows, np.random.default_rng(seed))


def _loss(rows: Rows, chance: np.random.Generator) -> Rows:
    number = len(rows["id"])
    return pick(rows, np.sort(chance.permutation(number)[: number - round(number / 100)]))


def _duplicates(rows: Rows, chance: np.random.Generator) -> Rows:
    number = len(rows["id"])
    return pick(rows, np.sort(np.concatenate([np.arange(number), chance.permutation(number)[: number // 100]])))


def _nulls(column: str, part: float) -> Callable[[Rows, np.random.Generator], Rows]:
    return lambda rows, chance: {
        **rows,
        column: np.where(chance.random(len(rows["id"])) < part, np.nan, rows[column]),
    }


def _unit_of_a_shard(rows: Rows, chance: np.random.Generator) -> Rows:
    shard = chance.integers(0, _SHARDS)
    return {**rows, "amount": rows["amount"] * np.where(rows["shard"] == shard, 100, 1)}


def _late_shard(rows: Rows, chance: np.random.Generator) -> Rows:
    """Of one shard the last three hours are missing."""
    end = rows["created_at"].min() // _DAY * _DAY + _DAY - 3 * 3_600
    return pick(rows, ~((rows["shard"] == chance.integers(0, _SHARDS)) & (rows["created_at"] >= end)))


FAULTS: Final[dict[str, Callable[[Rows, np.random.Generator], Rows]]] = {
    "loss of 1 %": _loss,
    "duplicates of 1 %": _duplicates,
    "null burst of 2 %": _nulls("amount", 0.02),
    "null burst of 10 % in a sparse column": _nulls("coupon", 0.1),
    "unit change": lambda rows, _: {**rows, "amount": rows["amount"] * 100},
    "unit change of a shard": _unit_of_a_shard,
    "late shard": _late_shard,
}


def breaks_a_rule(rows: Rows) -> bool:
    """Whether one of the shop's two rules says so: `unique: [id]`, `not_null: [amount]`."""
    return bool(len(np.unique(rows["id"])) < len(rows["id"]) or np.isnan(rows["amount"]).any())


def figures(rows: Rows, inputs: Mapping[str, int], seed: int) -> SliceFigures:
    """What a profile of these rows tells."""
    chance = np.random.default_rng(seed)
    columns = {name: _column(name, values, chance) for name, values in rows.items()}
    return SliceFigures(len(rows["id"]), columns, dict(inputs))


def _column(name: str, values: NDArray[Any], chance: np.random.Generator) -> ColumnFigures:
    there = values[~np.isnan(values)] if values.dtype.kind == "f" else values
    unique, counts = np.unique(there, return_counts=True)
    distinct = len(unique) * (1 + chance.normal(0, DISTINCT_ERROR) * (len(unique) > 200))
    if name in ("shard", "city"):
        order = np.argsort(-counts, kind="stable")[:SHOWN_FREQUENT]
        frequent = tuple(FrequentValue(f"{name}_{unique[place]}", int(counts[place])) for place in order)
        return ColumnFigures(ColumnKind.TEXT, len(there), distinct, frequent=frequent)
    kind = ColumnKind.TIME if name == "created_at" else ColumnKind.NUMBER
    scaled = there.astype(float) * 1e6 + _midnight() if kind is ColumnKind.TIME else there.astype(float)
    ends = [str(end) for end in (unique[0], unique[-1])]
    distinct = min(distinct, float(len(there)))
    return ColumnFigures(kind, len(there), distinct, ends[0], ends[1], quantiles(quantile_sketch(scaled), RANKS))


def _midnight() -> float:
    return datetime(FIRST.year, FIRST.month, FIRST.day, tzinfo=UTC).timestamp() * 1e6


def dated(figures_: SliceFigures, day: int, ago: int) -> DatedFigures:
    """The figures with their day's window, so many days before the one in question."""
    when = FIRST + timedelta(days=day)
    start = datetime(when.year, when.month, when.day, tzinfo=UTC)
    return DatedFigures(ago, figures_, Window(start, start + timedelta(days=1)), is_special_day(CALENDAR, when))
