"""The crawler on a simulated source: down, slow, flapping, lying, skewed, vanishing - no false ready."""

from __future__ import annotations

from collections import Counter, deque
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from tests.dependency_model.world import entity
from tidemark.crawl.crawler import AT_ONCE, Crawler
from tidemark.crawl.errors import ProbeError
from tidemark.dependency_model.arrival.circuit_breaker import FAILURES
from tidemark.dependency_model.arrival.sighting import Sight
from tidemark.dependency_model.slice import Slice

if TYPE_CHECKING:
    from collections.abc import Callable

END = datetime(2026, 3, 30, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
NOTHING = Sight(is_there=False, why="nothing yet")
TEXT = "kind: Virtual\nperiod: day\nprobe: {files: {path: '/d/{key}'}, settle_for: 5m}"
PROBE = entity("clicks", TEXT).probe


def there(rows: int = 10) -> Sight:
    return Sight(is_there=True, why=f"{rows} rows", content=str(rows), rows=rows)


class Simulation:
    """A source that answers what the test says, a clock, and the crawler; looks come back at once, or when let."""

    def __init__(self) -> None:
        self.now, self.looks = END, Counter[Slice]()
        self.answer: dict[Slice, Callable[[datetime], Sight]] = {}
        self.held: deque[Callable[[], None]] | None = None
        self.crawler = Crawler(self.look, self.run)
        self.settled: list[tuple[Slice, datetime]] = []

    def look(self, slice_: Slice) -> Sight:
        self.looks[slice_] += 1
        return self.answer[slice_](self.now)

    def run(self, _slice: Slice, work: Callable[[], None]) -> None:
        if self.held is None:
            work()
        else:
            self.held.append(work)

    def watch(self, name: str, answer: Callable[[datetime], Sight], system: str = "lake") -> Slice:
        slice_ = Slice(name, "2026-03-29")
        self.answer[slice_] = answer
        assert PROBE is not None
        self.crawler.watch(slice_, END, PROBE, system, self.now)
        return slice_

    def go_on(self, minutes: int) -> None:
        for _ in range(minutes * 2):
            self.now += MINUTE / 2
            for settled in self.crawler.step(self.now):
                self.settled.append((settled.slice, self.now))
                self.crawler.forget(settled.slice)


@pytest.fixture
def world() -> Simulation:
    return Simulation()


def state_of(world: Simulation) -> str:
    return world.crawler.systems["lake"].breaker.state.value


def at(minutes: int) -> datetime:
    return END + minutes * MINUTE


def test_another_reader_of_a_slice_has_no_cost(world: Simulation) -> None:
    slice_ = world.watch("clicks", lambda _: NOTHING)
    for _ in range(500):
        world.watch("clicks", lambda _: NOTHING)
        assert world.crawler.ask(slice_) is not None
    world.go_on(1)
    assert (world.looks[slice_], world.crawler.figures.questions) == (1, 500)
    assert len(world.crawler) == 1


def test_a_slice_is_trusted_when_it_stays_the_same(world: Simulation) -> None:
    slice_ = world.watch("clicks", lambda now: there() if now >= at(10) else NOTHING)
    world.go_on(40)
    ((settled, when),) = world.settled
    assert settled == slice_
    assert at(15) <= when <= at(20)


def test_a_partition_that_appears_and_vanishes_is_not_there(world: Simulation) -> None:
    world.watch("clicks", lambda now: there() if at(2) <= now < at(6) or now >= at(60) else NOTHING)
    world.go_on(60)
    assert world.settled == []
    world.go_on(60)
    assert len(world.settled) == 1


def test_a_slice_that_was_there_is_gone_once_that_stayed_so(world: Simulation) -> None:
    slice_ = world.watch("clicks", lambda now: there() if at(5) <= now < at(7) else NOTHING)
    assert PROBE is not None
    world.crawler.watch(slice_, END, PROBE, "lake", world.now, was_there=True)
    world.go_on(14)
    assert world.settled == []
    world.go_on(10)
    assert [settled for settled, _ in world.settled] == [slice_]


def test_an_unforeseen_error_of_a_probe_is_a_failed_look_without_its_text(world: Simulation) -> None:
    def answer(now: datetime) -> Sight:
        if now < at(10):
            raise ValueError("mysql://u:secret@host")
        return there()

    slice_ = world.watch("clicks", answer)
    world.go_on(5)
    assert str(world.crawler.errors[slice_]) == "the probe failed unexpectedly: found ValueError"
    world.go_on(120)
    assert [settled for settled, _ in world.settled] == [slice_]


def test_a_source_that_lies_is_not_believed_while_its_counts_move(world: Simulation) -> None:
    rows = iter([10, 12, 9, 14, 13, 20, 5, 21, *[30] * 1000])
    world.watch("clicks", lambda _: there(next(rows)))
    world.go_on(30)
    assert world.settled == []
    world.go_on(40)
    assert len(world.settled) == 1


def test_a_clock_set_back_restarts_the_wait_and_a_jump_forward_proves_nothing(world: Simulation) -> None:
    world.watch("clicks", lambda _: there())
    world.go_on(1)
    world.now -= timedelta(hours=2)
    world.go_on(3)
    assert world.settled == []
    world.now = at(5) + timedelta(days=2)
    world.go_on(1)
    slices = world.settled
    assert len(slices) <= 1, "two equal looks, and the time to settle by the clock"
    world.watch("late", lambda _: there())
    world.now += timedelta(days=2)
    world.go_on(1)
    assert all(slice_.entity != "late" for slice_, _ in world.settled), "one look proves nothing"


def test_a_system_that_is_down_is_not_probed_until_it_returns(world: Simulation) -> None:
    def answer(now: datetime) -> Sight:
        if now < at(120):
            raise ProbeError("the database did not answer")
        return there()

    for number in range(50):
        world.watch(f"clicks_{number}", answer)
    world.watch("other", lambda _: NOTHING, "partner")
    world.go_on(120)
    assert state_of(world) == "open"
    assert sum(count for slice_, count in world.looks.items() if slice_.entity != "other") < FAILURES + AT_ONCE + 12
    assert world.looks[Slice("other", "2026-03-29")] > 5, "another system is not touched by it"
    assert world.settled == []
    world.go_on(120)
    assert len(world.settled) == 50
    assert state_of(world) == "closed"


def test_a_source_that_flaps_is_believed_in_the_end(world: Simulation) -> None:
    turns = iter(range(10_000))

    def answer(_: datetime) -> Sight:
        if next(turns) % 2:
            raise ProbeError("the server did not answer")
        return there()

    world.watch("clicks", answer)
    world.go_on(30)
    assert len(world.settled) == 1


def test_a_slow_system_gets_few_probes_and_does_not_delay_others(world: Simulation) -> None:
    world.held = deque()
    for number in range(20):
        world.watch(f"clicks_{number}", lambda _: there())
    world.go_on(1)
    assert len(world.held) == AT_ONCE == world.crawler.systems["lake"].under_way
    fast = world.watch("other", lambda _: there(), "partner")
    world.crawler.step(world.now)
    assert len(world.held) == AT_ONCE + 1
    world.held.pop()()
    world.crawler.step(world.now)
    known = world.crawler.ask(fast)
    assert known is not None
    assert known.sighting is not None


def test_a_look_that_hangs_is_given_up_and_its_late_answer_counts_for_nothing(world: Simulation) -> None:
    world.held = deque()
    slice_ = world.watch("clicks", lambda _: there())
    world.go_on(3)
    known = world.crawler.ask(slice_)
    assert known is not None
    assert "did not answer" in known.error
    late, world.held = world.held, None
    late.popleft()()
    assert world.crawler.step(world.now) == []
    assert known.sighting is None or known.sighting.looks == 1
    assert world.crawler.systems["lake"].breaker.failures <= 1
    world.go_on(40)
    assert [settled for settled, _ in world.settled] == [slice_]


def test_learned_arrivals_decide_the_time_of_probes(world: Simulation) -> None:
    for week in range(1, 6):
        end = END - timedelta(weeks=week)
        world.crawler.learn("clicks", end, end + timedelta(hours=5))
    slice_ = world.watch("clicks", lambda now: there() if now >= END + timedelta(hours=5) else NOTHING)
    world.go_on(4 * 60)
    assert world.looks[slice_] == 0
    world.go_on(120)
    assert world.looks[slice_] <= 5
    assert [settled for settled, _ in world.settled] == [slice_]


def test_slices_without_readers_are_not_probed(world: Simulation) -> None:
    slice_ = world.watch("clicks", lambda _: NOTHING)
    world.crawler.forget(slice_)
    world.go_on(10)
    assert (world.looks[slice_], len(world.crawler), world.crawler.ask(slice_)) == (0, 0, None)
