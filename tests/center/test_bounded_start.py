"""A start reads what is open and near, however long the past is; and decides what a start that reads all would."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from tests.dependency_model.world import graph
from tests.state_store.conftest import BOTH, empty_database
from tidemark.center.center import DependencyCenter
from tidemark.center.fact import Fact
from tidemark.center.in_memory_state import CenterMemory
from tidemark.dependency_model.readiness.explanation import explain
from tidemark.dependency_model.readiness.index import ReadinessDecision
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Event, Quality, RunState, SliceStatus
from tidemark.state_store.database import Database
from tidemark.state_store.reader import SqlStateReader
from tidemark.state_store.store import StateStore
from tidemark.state_store.stored_known_slices import StoredSlices
from tidemark.state_store.transition import Transition

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from tidemark.dependency_model.entity.sub_partition import Sub
    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.state_store.transition import Current

SINCE = datetime(2024, 1, 1, tzinfo=UTC)
DONE = SliceStatus(RunState.COMPLETED, frozenset({"completed"}), Quality.PASSED)
STUCK = "2024-01-03"
"""A day whose input never came."""


def world() -> DependencyGraph:
    texts = {
        "ods": "kind: Virtual",
        "clicks": "period: hour, kind: Virtual",
        "dwd": "depends_on: [ods]",
        "total": "depends_on: [dwd]",
        "week": "depends_on: [{entity: clicks, offset: all}, {entity: dwd, offset: Range -6..0}]",
        "rate": "depends_on: [{entity: clicks, offset: last_available}]",
    }
    utc = "time_zone: UTC, start: 2024-01-01"
    declared = {name: f"{utc}, {'' if 'period' in text else 'period: day, '}{text}" for name, text in texts.items()}
    return graph(**{name: f"{{{text}}}" for name, text in declared.items()})


def past(days: int) -> list[Transition]:
    """Everything of so many days is done, but for one day and what needs it."""
    stuck, slices = datetime.fromisoformat(f"{STUCK}T00:00:00+00:00"), []
    for day in (SINCE + timedelta(days=number) for number in range(days)):
        names = ["rate", *(["ods", "dwd", "total"] if day != stuck else [])]
        names += [] if stuck <= day < stuck + timedelta(days=7) else ["week"]
        slices += [Slice(name, f"{day:%Y-%m-%d}") for name in names]
        slices += [Slice("clicks", f"{day:%Y-%m-%d}T{hour:02}") for hour in range(24)]
    return [
        Transition(seq, f"past-{seq}", slice_, Event.QUALITY_PASSED, DONE, "past", "", SINCE, SINCE)
        for seq, slice_ in enumerate(slices, start=1)
    ]


class CountingReader(SqlStateReader):
    """Counts the slices that were read or asked for."""

    count = 0

    def everything(self, floor: str = "") -> tuple[int, list[Current]]:
        last, currents = super().everything(floor)
        self.count += len(currents)
        return last, currents

    def currents(self, slices: Iterable[Slice]) -> list[Current]:
        wanted = list(slices)
        self.count += len(wanted)
        return super().currents(wanted)

    def older(self, places: Iterable[tuple[str, Sub]], before: str, limit: int) -> list[Current]:
        currents = super().older(places, before, limit)
        self.count += len(currents)
        return currents


def start(url: str, days: int, *, noted: bool) -> tuple[int, list[ReadinessDecision]]:
    """How many slices a start on so long a past looks at, and what it decides after the missing day's input came."""
    now, store = SINCE + timedelta(days=days, hours=1), StateStore(Database(url))
    store.write.append(past(days), after=0)
    if noted:
        assert DependencyCenter(world(), store, since=SINCE, clock=lambda: now).checkpoint() == 9
    reader = CountingReader(store.database)
    memory = CenterMemory(world(), reader, SINCE, now, lambda *_: False)
    looked_at = reader.count
    memory.index.observe(Slice("ods", STUCK), DONE, 1 << 40)
    decided = memory.index.decide()
    store.close()
    return looked_at, decided


@pytest.mark.parametrize("kind", BOTH)
def test_a_start_looks_at_the_same_slices_after_a_longer_past(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    server = request.getfixturevalue("postgres_server").url if kind == "postgresql" else ""
    short, decided = start(empty_database(server, tmp_path), 30, noted=True)
    long, decided_later = start(empty_database(server, tmp_path), 300, noted=True)
    assert long == short < 700
    assert decided == decided_later == [ReadinessDecision(Slice("dwd", STUCK), Event.RELEASED, "completed")]


def test_without_a_checkpoint_it_goes_through_the_past_and_decides_the_same(tmp_path: Path) -> None:
    short, decided = start(empty_database("", tmp_path), 30, noted=False)
    long, decided_later = start(empty_database("", tmp_path), 300, noted=False)
    assert long > 3 * short
    assert decided == decided_later == [ReadinessDecision(Slice("dwd", STUCK), Event.RELEASED, "completed")]


def test_a_new_entity_and_one_that_starts_earlier_are_gone_through_from_their_beginning(tmp_path: Path) -> None:
    now, store = SINCE + timedelta(days=20), StateStore(Database.at(tmp_path / "state.db"))
    utc = "time_zone: UTC, period: day"
    first = graph(old=f"{{{utc}, start: 2024-01-10}}")
    center = DependencyCenter(first, store, since=SINCE, clock=lambda: now)
    assert (center.tick(), center.checkpoint()) == (11, 0)
    changed = graph(old=f"{{{utc}, start: 2024-01-08}}", new=f"{{{utc}, start: 2024-01-15}}")
    assert DependencyCenter(changed, store, since=SINCE, clock=lambda: now).tick() == 2 + 6


def test_the_past_is_known_when_somebody_asks(tmp_path: Path) -> None:
    now, store = SINCE + timedelta(days=40), StateStore(Database.at(tmp_path / "state.db"))
    store.write.append(past(40), after=0)
    center = DependencyCenter(world(), store, since=SINCE, clock=lambda: now)
    center.checkpoint()
    center._forget()
    day = Slice("dwd", "2024-01-20")
    assert center.status(day) == DONE
    assert day not in DependencyCenter(world(), store, since=SINCE, clock=lambda: now).memory.index.statuses
    center.report([Fact("again", day, Event.BACKFILL_REQUESTED, now, "test")])
    assert center.ready() == [day]
    assert {slice_.entity for slice_, _ in center.completed_slices()} == {
        "ods",
        "clicks",
        "dwd",
        "total",
        "week",
        "rate",
    }
    assert explain(world(), Slice("rate", "2024-02-15"), known=StoredSlices(world(), store.read), now=now).release
