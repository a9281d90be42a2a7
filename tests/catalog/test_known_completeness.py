"""Cached completeness equals a new count, whatever was reported in the meantime."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.catalog.test_slice_details import EPOCH
from tests.dependency_model.world import graph
from tidemark.catalog import known_completeness
from tidemark.catalog.known_completeness import KnownCompleteness
from tidemark.catalog.slice_completeness import slice_completeness
from tidemark.dependency_model.slice import Slice
from tidemark.state_store.database import Database
from tidemark.state_store.record_counts import RecordCount, RecordCounts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FIRST = datetime.fromisoformat("2024-03-31T00:00:00+00:00")
ZERO = int((FIRST - EPOCH) / timedelta(minutes=1))
acts = st.one_of(
    st.tuples(st.just("count"), st.integers(0, 600), st.sampled_from(["source", "lake"]), st.integers(0, 50)),
    st.tuples(st.just("final"), st.integers(0, 700)),
    st.tuples(st.just("forget"), st.integers(0, 600)),
    st.tuples(st.just("other"), st.integers(0, 600)),
)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database.at(tmp_path / "state.db")
    yield opened
    opened.close()


@pytest.mark.slow
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(acts, max_size=4), max_size=8))
def test_the_cached_result_equals_a_new_count(database: Database, turns: list[list[Any]]) -> None:
    """A report that is not seen, a number that is used twice, or a span that is too short would break it."""
    name = uuid.uuid4().hex
    world = graph(
        clicks=f"{{kind: Virtual, period: hour, probe: {{counts: {{of: {name}, slot_minutes: 7, phase: 3}}}}}}"
    )
    known, records = KnownCompleteness(world, database), RecordCounts(database)
    slices = [world.slice_at("clicks", FIRST + timedelta(hours=number)) for number in range(10)]
    for number, turn in enumerate([[], *turns]):
        for act in turn:
            match act:
                case ("count", minute, side, count):
                    records.report([RecordCount(name, ZERO + minute, side, "a", count)], {})
                case ("final", minute):
                    records.report([], {name: ZERO + minute})
                case ("forget", minute):
                    records.forget_before(name, ZERO + minute)
                case ("other", minute):
                    records.report([RecordCount(f"{name} 2", ZERO + minute, "lake", "a", 1)], {})
        asked = slices[number % 3 :]
        assert known.of(asked) == slice_completeness(world, database, asked)


def test_counted_slices_are_not_counted_again(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    world = graph(clicks="{kind: Virtual, period: hour, probe: {counts: {of: clicks}}}")
    known, records, counted = KnownCompleteness(world, database), RecordCounts(database), list[int]()

    def count(*asked: Any) -> Any:
        counted.append(len(asked[2]))
        return slice_completeness(*asked)

    monkeypatch.setattr(known_completeness, "slice_completeness", count)
    slices = [world.slice_at("clicks", FIRST + timedelta(hours=number)) for number in range(10)]
    records.report([RecordCount("clicks", ZERO, "lake", "a", 1)], {"clicks": ZERO + 600})
    for _ in range(2):
        known.of(slices)
    records.report([RecordCount("clicks", ZERO + 61, "lake", "a", 1)], {})
    known.of(slices)
    assert counted == [10, 1]


def test_entities_without_counts_have_no_completeness(database: Database) -> None:
    world = graph(clicks="{kind: Virtual, period: hour, probe: {counts: {of: clicks}}}", other="period: day")
    known = KnownCompleteness(world, database)
    for _ in range(2):
        assert known.of([Slice("clicks", "2024-W12")]) == known.of([Slice("other", "2024-03-31")]) == known.of([]) == {}
