"""The crawl service: waiters that ask the store instead of the outside world, over one simulated day.

External tables, a fifth of them hourly, arrive at a time of their own with jitter; some come hours late, some never.
Waiters, spread over the tables, ask every few minutes whether their slices are there. Some days before it teach the
crawler. Time is simulated: nothing here depends on the machine.

    waiters, tables   how many
    slices, missing   of the measured day, and those that never come
    questions         what waiters asked on that day
    probes            looks at the outside on that day, all failures and second looks included
    hit_ratio         share of the questions that the store answered: 1 - probes / questions
    detect_delay_s_p50, _p90   from a slice's arrival until it is believed (`settle_for` included), in seconds
    settle_s          how much of that is the time to settle
    poller_probes     20 times the probes, made at a fixed interval by a poller for each waiter (`poller_interval_s`)
    poller_delay_s_p90         its delay; it believes what it first sees
    coalesced_interval_s       the fixed interval of one poller a slice that makes the same 20 times the probes
    false_ready       slices that were believed before they were there
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from tidemark.crawl.crawler import Crawler
from tidemark.dependency_model.arrival.sighting import Sight
from tidemark.dependency_model.entity.probe import FilesProbe, Probe
from tidemark.dependency_model.slice import Slice

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

WAITERS, TABLES, SYSTEMS = 10_000, 500, 20
TAUGHT_DAYS: Final = 10
ASKED_EVERY: Final = timedelta(minutes=2)
TICK: Final = timedelta(seconds=5)
START: Final = datetime(2026, 3, 2, tzinfo=UTC)
DAY: Final = timedelta(days=1)
TIMES: Final = 20
"""How many times as many probes the poller may make."""
_THERE, _NOTHING = Sight(is_there=True, why="there", content="x"), Sight(is_there=False, why="nothing")
_PROBE: Final = Probe(
    files=FilesProbe("/external/{key}"), settle_for=timedelta(seconds=15), fresh_for=timedelta(seconds=30)
)


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--waiters", type=int, default=WAITERS)
    parser.add_argument("--tables", type=int, default=TABLES)


@dataclass
class _Expected:
    """A slice with when it comes, None for never; `detected` once it is believed."""

    slice: Slice
    end: datetime
    arrival: datetime | None
    detected: datetime | None = None


@dataclass
class _Simulation:
    chance: random.Random
    now: datetime = START
    open: dict[Slice, _Expected] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.crawler = Crawler(self._look, _at_once)

    def _look(self, slice_: Slice) -> Sight:
        expected = self.open[slice_]
        return _THERE if expected.arrival is not None and expected.arrival <= self.now else _NOTHING

    def take(self, expected: _Expected) -> None:
        self.open[expected.slice] = expected
        system = f"system {hash_of(expected.slice.entity) % SYSTEMS}"
        self.crawler.watch(expected.slice, expected.end, _PROBE, system, self.now)

    def step(self) -> None:
        for settled in self.crawler.step(self.now):
            expected = self.open.pop(settled.slice)
            expected.detected = self.now
            self.crawler.learn(settled.slice.entity, expected.end, settled.sighting.first_seen or self.now)
            self.crawler.forget(settled.slice)


def hash_of(name: str) -> int:
    """The same for a name in every process."""
    return int(name.rpartition("_")[2])


def _at_once(_slice: Slice, work: Callable[[], None]) -> None:
    work()


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    world = _Simulation(random.Random(23))
    usual = {f"table_{number}": world.chance.uniform(5, 600) for number in range(arguments.tables)}
    for day in range(TAUGHT_DAYS):
        _run_day(world, START + day * DAY, usual, {})
        for slice_ in list(world.open):  # nobody waits any longer for what never came
            world.crawler.forget(slice_)
            del world.open[slice_]
    before = world.crawler.figures.looks
    waiters = _waiters(arguments.waiters, list(usual))
    slices, questions = _run_day(world, START + TAUGHT_DAYS * DAY, usual, waiters)
    return {
        "waiters": arguments.waiters,
        "tables": arguments.tables,
        **_figures(slices, waiters, world.crawler.figures.looks - before, questions),
    }


def _waiters(count: int, tables: list[str]) -> dict[str, int]:
    """How many wait for each table."""
    waiters = dict.fromkeys(tables, 0)
    for number in range(count):
        waiters[tables[number % len(tables)]] += 1
    return waiters


def _run_day(
    world: _Simulation, day: datetime, usual: dict[str, float], waiters: dict[str, int]
) -> tuple[list[_Expected], int]:
    """Slices whose windows end on that day, until its end; how many questions were asked."""
    coming = sorted(_slices(world.chance, day, usual), key=lambda expected: expected.end, reverse=True)
    slices, questions, ask_at = coming[:], 0, day
    world.now = day
    while world.now < day + DAY:
        while coming and coming[-1].end <= world.now:
            world.take(coming.pop())
        if waiters and world.now >= ask_at:
            ask_at += ASKED_EVERY
            questions += sum(_ask(world.crawler, slice_, waiters[slice_.entity]) for slice_ in world.open)
        world.step()
        world.now = _next_tick(world, coming, ask_at if waiters else None)
    return slices, questions


def _ask(crawler: Crawler, slice_: Slice, waiters: int) -> int:
    for _ in range(waiters):
        crawler.ask(slice_)
    return waiters


def _next_tick(world: _Simulation, coming: list[_Expected], ask_at: datetime | None) -> datetime:
    """The center ticks every few seconds; ticks in which nothing is due are left out."""
    due = [time for time in (world.crawler.next_due, coming[-1].end if coming else None, ask_at) if time is not None]
    ticks = max(1, -((world.now - min(due, default=world.now + DAY)) // TICK))
    return world.now + ticks * TICK


def _slices(chance: random.Random, day: datetime, usual: dict[str, float]) -> Iterator[_Expected]:
    for number, (table, minutes) in enumerate(usual.items()):
        is_hourly = number % 5 == 0
        for hour in range(24 if is_hourly else 1):
            end = day + timedelta(hours=hour)
            key = f"{end - timedelta(hours=1):%Y-%m-%dT%H}" if is_hourly else f"{end - DAY:%Y-%m-%d}"
            yield _Expected(Slice(table, key), end, _arrival(chance, end, minutes / 30 if is_hourly else minutes))


def _arrival(chance: random.Random, end: datetime, minutes: float) -> datetime | None:
    """One in a hundred never comes, one in thirty some hours late, the others as usual with some minutes of jitter."""
    fate = chance.random()
    if fate < 0.01:
        return None
    late = chance.uniform(30, 300) if fate < 0.04 else 0.0
    return end + timedelta(minutes=max(0.0, chance.gauss(minutes, min(4.0, minutes / 4))) + late)


def _figures(slices: list[_Expected], waiters: dict[str, int], probes: int, questions: int) -> dict[str, Any]:
    until = START + (TAUGHT_DAYS + 1) * DAY
    came = [slice_ for slice_ in slices if slice_.arrival is not None and slice_.arrival < until - timedelta(hours=1)]
    delays = sorted(((slice_.detected or until) - slice_.arrival).total_seconds() for slice_ in came if slice_.arrival)
    waits = [((slice_.arrival or until) - slice_.end).total_seconds() for slice_ in slices]
    by_waiters = sum(wait * waiters[slice_.slice.entity] for slice_, wait in zip(slices, waits, strict=True))
    interval = by_waiters / (TIMES * probes)
    return {
        "slices": len(slices),
        "missing": sum(slice_.arrival is None for slice_ in slices),
        "questions": questions,
        "probes": probes,
        "hit_ratio": round(1 - probes / questions, 4),
        "detect_delay_s_p50": round(delays[len(delays) // 2], 1),
        "detect_delay_s_p90": round(delays[int(len(delays) * 0.9)], 1),
        "settle_s": _PROBE.settle_for.total_seconds(),
        "poller_probes": TIMES * probes,
        "poller_interval_s": round(interval, 1),
        "poller_delay_s_p90": round(0.9 * interval, 1),
        "coalesced_interval_s": round(sum(waits) / (TIMES * probes), 1),
        "false_ready": sum(
            slice_.detected is not None and (slice_.arrival or until) > slice_.detected for slice_ in slices
        ),
    }
