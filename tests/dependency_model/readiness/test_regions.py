"""Regions with midnights of their own: each at its own pace, a batch date by all or a quorum (seed capability C5)."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from tests.dependency_model.world import graph, keys
from tidemark.dependency_model.readiness.index import ReadinessIndex
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Event, Quality, RunState, SliceStatus

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidemark.dependency_model.graph import DependencyGraph

FIRST, LAST, LATER = date(2024, 6, 1), date(2024, 6, 5), date(2024, 6, 4)
ZONES = {"apac": 8, "gulf": 5, "emea": 0, "west": -8, "nippon": 9}
"""Hours ahead of UTC; `nippon` is there from `LATER` on."""
PARTS = (
    "{region: {apac: {time_zone: UTC+8}, gulf: {time_zone: UTC+5}, emea: {}, west: {time_zone: UTC-8},"
    " nippon: {time_zone: UTC+9, start: 2024-06-04}}}"
)
HEAD = f"period: day, time_zone: UTC, start: 2024-06-01, sub_partitions: {PARTS}"
READY = SliceStatus(RunState.READY)
DONE = SliceStatus(RunState.COMPLETED, frozenset({"completed"}), Quality.PASSED)
BAD = SliceStatus(RunState.COMPLETED, frozenset({"completed"}), Quality.FAILED)


def world(quorum: str) -> DependencyGraph:
    """`sold` comes from outside, `totals` are computed a region at a time, `world` reads them of two batch dates."""
    clause = f", quorum: {quorum}" if quorum else ""
    return graph(
        sold=f"{{kind: Virtual, {HEAD}{clause}}}",
        totals=f"{{{HEAD}{clause}, depends_on: [sold]}}",
        world='{period: day, time_zone: UTC, start: 2024-06-01, depends_on: [{entity: totals, offset: "Set -1,0"}]}',
    )


def days() -> Iterator[date]:
    return (FIRST + timedelta(days=number) for number in range((LAST - FIRST).days + 1))


@dataclass
class Reference:
    """What is good of which region and day; each question looks at all of it."""

    needed: int
    now: datetime
    sold: set[tuple[str, date]] = field(default_factory=set)
    totals: set[tuple[str, date]] = field(default_factory=set)

    def is_over(self, day: date, hours: int) -> bool:
        return self.now >= datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(days=1, hours=-hours)

    def is_whole(self, there: set[tuple[str, date]], day: date) -> bool:
        regions = [name for name in ZONES if name != "nippon" or day >= LATER]
        return sum((name, day) in there for name in regions) >= min(self.needed, len(regions))

    def released(self) -> set[str]:
        """Slices that may start: parts by their own midnight, wholes and the world by that of UTC."""
        slices = {
            f"totals@{day}/region={name}"
            for name, day in self.sold
            if self.is_over(day, ZONES[name]) and (name != "nippon" or day >= LATER)
        }
        over = [day for day in days() if self.is_over(day, 0)]
        slices |= {f"sold@{day}" for day in over if self.is_whole(self.sold, day)}
        slices |= {f"totals@{day}" for day in over if self.is_whole(self.totals, day)}
        for day in over:
            if all(self.is_whole(self.totals, read) for read in (day - timedelta(days=1), day) if read >= FIRST):
                slices.add(f"world@{day}")
        return slices


class Arrivals:
    """The index, told what comes in random order; what it releases is as if a center had noted it."""

    def __init__(self, quorum: str, needed: int) -> None:
        begin = datetime(2024, 5, 31, tzinfo=UTC)
        self.index = ReadinessIndex(world(quorum), begin, begin)
        self.reference = Reference(needed, begin)
        self.released: set[str] = set()
        self.version = 0

    def tell(self, slice_: Slice, status: SliceStatus) -> None:
        self.version += 1
        self.index.observe(slice_, status, self.version)

    def part(self, entity: str, name: str, day: date, *, is_good: bool) -> None:
        slice_ = Slice(entity, str(day), (("region", name),))
        self.tell(slice_, DONE if is_good else BAD)
        known = self.reference.sold if entity == "sold" else self.reference.totals
        (known.add if is_good else known.discard)((name, day))

    def go_on(self, hours: int) -> None:
        self.reference.now += timedelta(hours=hours)
        self.index.advance(self.reference.now)

    def settle(self) -> set[str]:
        """What waits and may start now; what was launched stays so."""
        while decisions := self.index.decide():
            for decision in decisions:
                is_on = decision.event is Event.RELEASED
                (self.released.add if is_on else self.released.discard)(str(decision.slice))
                self.tell(decision.slice, READY if is_on else SliceStatus())
        return self.released


def _compare(seed: int) -> None:
    chance = random.Random(seed)
    quorum, needed = chance.choice([("", 5), ("3", 3), ("4", 4), ("1", 1)])
    arrivals = Arrivals(quorum, needed)
    places = [(name, day) for name in ZONES for day in days() if name != "nippon" or day >= LATER]
    told = [("sold", *place) for place in places] + [("totals", *place) for place in places]
    chance.shuffle(told)
    computed: set[tuple[str, date]] = set()
    for number, (entity, name, day) in enumerate(told):
        if chance.random() < 0.3:
            arrivals.go_on(chance.randrange(30))
        is_good = chance.random() < 0.8
        arrivals.part(entity, name, day, is_good=is_good)
        if entity == "totals":
            computed.add((name, day))
        if number % 5 == 4:
            done = {f"totals@{day}/region={name}" for name, day in computed}
            assert arrivals.settle() - done == arrivals.reference.released() - done
    arrivals.go_on(24 * 7)
    for name, day in places:
        arrivals.part("totals", name, day, is_good=True)
    assert {f"world@{day}" for day in days()} <= arrivals.settle()


def test_as_the_reference_on_100_random_arrival_orders() -> None:
    for seed in range(100):
        _compare(seed)


@pytest.mark.long
def test_as_the_reference_on_10_000_random_arrival_orders() -> None:
    for seed in range(100, 10_100):
        _compare(seed)


def test_a_region_added_later_does_not_open_the_past_again() -> None:
    before = graph(
        totals="{period: day, time_zone: UTC, sub_partitions: {region: {eu: {}}}}",
        world="{period: day, time_zone: UTC, depends_on: [totals]}",
    )
    begin, now = datetime(2024, 6, 1, tzinfo=UTC), datetime(2024, 6, 6, tzinfo=UTC)
    index = ReadinessIndex(before, begin, now)
    for number, day in enumerate(days()):
        index.observe(Slice("totals", str(day), (("region", "eu"),)), DONE, 3 * number + 1)
    index.advance(now)
    for number, decision in enumerate(index.decide()):
        index.observe(decision.slice, DONE, 100 + number)
    after = graph(
        totals="{period: day, time_zone: UTC, sub_partitions: {region: {eu: {}, us: {start: 2024-06-06}}}}",
        world="{period: day, time_zone: UTC, depends_on: [totals]}",
    )
    before.put(after.entity("totals"))
    index.refresh(["totals", "world"])
    assert index.decide() == []
    assert keys(before, "totals@2024-06-05") == {"totals": ["2024-06-05/region=eu"]}
    assert keys(before, "world@2024-06-06") == {"totals": ["2024-06-06/region=eu", "2024-06-06/region=us"]}


def test_countries_lie_within_their_regions_and_centers_within_their_countries() -> None:
    parts = (
        "{region: {emea: {time_zone: UTC}, apac: {time_zone: Asia/Shanghai}},"
        " country: {fr: {within: emea, time_zone: Europe/Paris}, gb: {within: emea}, cn: {within: apac}},"
        " center: {par1: {within: fr}, lon1: {within: gb}, sha1: {within: cn}, sha2: {within: cn, start: 2024-06-03}}}"
    )
    declared = graph(load=f"{{period: day, time_zone: UTC, sub_partitions: {parts}}}", all="{period: day}")
    node = declared.node("load")
    zones = {dict(sub)["center"]: node.calendar_of(sub).time_zone for sub in node.subs}
    assert zones == {"par1": "Europe/Paris", "lon1": "UTC", "sha1": "Asia/Shanghai", "sha2": "Asia/Shanghai"}
    ((asked),) = declared.requirements(Slice("load", "2024-06-02"))
    assert [dict(slice_.sub)["center"] for slice_ in asked.slices] == ["par1", "lon1", "sha1"]


def test_a_quorum_counts_by_date_and_reads_the_existing_parts() -> None:
    ((today),) = world("3").requirements(Slice("totals", "2024-06-05"))
    assert str(today.dependency.weak and today.dependency.weak.at_least) == "3"
    yesterday, today = world("75%").requirements(Slice("world", "2024-06-05"))
    assert {slice_.key for slice_ in yesterday.slices} == {"2024-06-04"}
    assert {slice_.key for slice_ in today.slices} == {"2024-06-05"}
    chosen = graph(
        totals=f"{{{HEAD}, quorum: 1}}",
        two="{period: day, depends_on: [{entity: totals, sub: {region: [emea, west]}}]}",
    )
    ((both),) = chosen.requirements(Slice("two", "2024-06-05"))
    assert both.dependency.weak is None, "who names its regions gets all of them"
