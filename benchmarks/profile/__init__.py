"""Profiles: false alarms on clean days, seeded faults that are caught, and what they cost beside the rules.

Each world is a shop by a seed of its own: orders, cleaned orders made of them, in 180 days with a weekly rhythm, growth
and holidays. Each day is compared with the days before it, the first ones with what little there is. Into each of the
last 90 days, one at a time, each fault is seeded; the days before it are clean.

    clean_slices        slices of the last 90 days, and false_alarms among them; share_of_false_alarms
    first_false_alarms  the same of the 90 days before, in which history begins
    alarmed             how often which measure was off on clean days
    caught              by fault and table: which share the profile tells, or a rule (unique: [id], not_null: [amount])
    caught_by_profile   the same by the profile alone, without rules
    caught_by_rows      the same by the number of rows against its history alone
    compare_ms          one comparison
    overhead_ratio_profile   of one slice on Spark with --rows: processor time for the profile, of the slice's files,
                             for that of computing, writing and judging the slice without it
    overhead_ratio_scanned_profile   the same by Spark's aggregates in the query of the rules, as of rows that are no
                             files of this machine
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from benchmarks.profile.simulated_days import FAULTS, Shop, breaks_a_rule, cleaned, dated, figures, with_fault
from benchmarks.profile.spark_overhead import overhead
from tidemark.dependency_model.profile.comparison import compare
from tidemark.dependency_model.profile.measures import ROWS
from tidemark.dependency_model.profile.prediction import PAST

if TYPE_CHECKING:
    import argparse

    from benchmarks.profile.simulated_days import Day, Rows
    from tidemark.dependency_model.profile.comparison import HistoryComparison
    from tidemark.dependency_model.profile.figures import SliceFigures

DAYS, JUDGED, WEEK = 180, 90, 7
TABLES: Final = ("orders", "cleaned")


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seed", type=int, default=None, help="of the first world; without it a new one each time")
    parser.add_argument("--worlds", type=int, default=2)
    parser.add_argument("--days", type=int, default=DAYS)
    parser.add_argument("--every", type=int, default=1, help="seed faults into every n-th day only")
    parser.add_argument("--rows", type=int, default=2_000_000, help="of the slice on Spark; 0 leaves it out")


class World:
    """One shop, and the figures of its tables' days."""

    def __init__(self, seed: int, days: int) -> None:
        self.days: list[Day] = Shop(seed).days(days)
        self.clean: dict[str, list[SliceFigures]] = {
            table: [self._clean(table, day) for day in self.days] for table in TABLES
        }

    def compared(self, table: str, day: int, now: SliceFigures) -> HistoryComparison:
        past = [dated(self.clean[table][day - ago], day - ago, ago) for ago in range(1, min(PAST, day) + 1)]
        return compare(dated(now, day, 0), past, WEEK)

    def spoiled(self, table: str, day: Day, fault: str) -> Rows:
        """A fault of the cleaned orders is one of their computation: the orders are as they should be."""
        return with_fault(self._rows(table, day), fault, day.day)

    def faulty(self, table: str, day: Day, fault: str) -> SliceFigures:
        return figures(self.spoiled(table, day, fault), self._inputs(table, day), day.day)

    def _clean(self, table: str, day: Day) -> SliceFigures:
        return figures(self._rows(table, day), self._inputs(table, day), day.day)

    def _rows(self, table: str, day: Day) -> Rows:
        return day.orders if table == "orders" else cleaned(day.orders, day.day)

    def _inputs(self, table: str, day: Day) -> dict[str, int]:
        return {} if table == "orders" else {"orders": len(day.orders["id"])}


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    seed = arguments.seed if arguments.seed is not None else time.time_ns() % 1_000_000
    told = detection(seed, arguments.worlds, arguments.days, arguments.every)
    return {**told, **(overhead(arguments.rows) if arguments.rows else {})}


@dataclass
class _Tally:
    """Counts over all worlds; those by name are by fault and table."""

    alarms: int = 0
    slices: int = 0
    first_alarms: int = 0
    first_slices: int = 0
    alarmed: Counter[str] = field(default_factory=Counter)
    tried: Counter[str] = field(default_factory=Counter)
    by_profile: Counter[str] = field(default_factory=Counter)
    by_rows: Counter[str] = field(default_factory=Counter)
    caught: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)

    def shares(self, counted: Counter[str]) -> dict[str, float]:
        return {name: round(counted[name] / self.tried[name], 4) for name in self.tried}


def detection(seed: int, worlds: int, days: int, every: int) -> dict[str, Any]:
    """False alarms and faults caught, over so many worlds; the last 90 days (or half of fewer) are judged."""
    first, tally = (days - JUDGED if days > JUDGED else days // 2), _Tally()
    for number in range(worlds):
        world = World(seed + number, days)
        for table in TABLES:
            for day in world.days:
                _judge_clean(world, table, day, tally, is_judged=day.day >= first)
                if day.day >= first and day.day % every == 0:
                    _judge_faults(world, table, day, tally)
    return {
        "seed": seed,
        "clean_slices": tally.slices,
        "false_alarms": tally.alarms,
        "share_of_false_alarms": round(tally.alarms / tally.slices, 4),
        "first_slices": tally.first_slices,
        "first_false_alarms": tally.first_alarms,
        "alarmed": dict(tally.alarmed),
        "faults": tally.tried.total(),
        "caught": tally.shares(tally.caught),
        "caught_by_profile": tally.shares(tally.by_profile),
        "caught_by_rows": tally.shares(tally.by_rows),
        "compare_ms": round(sorted(tally.seconds)[len(tally.seconds) // 2] * 1000, 1),
    }


def _judge_clean(world: World, table: str, day: Day, tally: _Tally, *, is_judged: bool) -> None:
    begun = time.perf_counter()
    anomalies = world.compared(table, day.day, world.clean[table][day.day]).anomalies
    tally.seconds.append(time.perf_counter() - begun)
    tally.alarmed.update(anomaly.measure for anomaly in anomalies)
    if is_judged:
        tally.alarms, tally.slices = tally.alarms + bool(anomalies), tally.slices + 1
    else:
        tally.first_alarms, tally.first_slices = tally.first_alarms + bool(anomalies), tally.first_slices + 1


def _judge_faults(world: World, table: str, day: Day, tally: _Tally) -> None:
    for fault in FAULTS:
        name, rows = f"{fault} in {table}", world.spoiled(table, day, fault)
        anomalies = world.compared(table, day.day, world.faulty(table, day, fault)).anomalies
        tally.tried[name] += 1
        tally.by_profile[name] += bool(anomalies)
        tally.by_rows[name] += any(anomaly.measure == str(ROWS) for anomaly in anomalies)
        tally.caught[name] += bool(anomalies) or breaks_a_rule(rows)
