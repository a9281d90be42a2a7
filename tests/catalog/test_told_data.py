"""The last reports of runs about slices: equal to a replay of all transitions, for any histories and instants."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.components.fixtures import ON_POSTGRESQL
from tests.state_store.conftest import empty_database
from tests.state_store.examples import NOON, chain
from tidemark.catalog.partition_contents import ToldData
from tidemark.catalog.told_data import told_data
from tidemark.dependency_model.slice import Slice
from tidemark.state_store.database import Database
from tidemark.state_store.store import StateStore
from tidemark.state_store.transition import Facts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SLICES = [
    *(Slice("orders", f"2026-03-2{day}") for day in range(3)),
    *(Slice("hours", "2026-03-21T07", (("region", name),)) for name in ("cn", "eu")),
    Slice("hours", "2026-03-20"),
]
TOLD = st.lists(
    st.tuples(st.sampled_from(SLICES), st.sampled_from([None, "3", "7", "s3-tag"]), st.sampled_from([None, 0, 12])),
    max_size=25,
)


@pytest.fixture(params=["sqlite", ON_POSTGRESQL])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[StateStore]:
    server = request.getfixturevalue("postgres_server").url if request.param == "postgresql" else ""
    opened = StateStore(Database(empty_database(server, tmp_path)))
    yield opened
    opened.close()


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(told=TOLD, wanted=st.sets(st.sampled_from(SLICES)), until=st.none() | st.integers(-1, 30))
def test_the_data_is_from_the_last_transition(
    store: StateStore, told: list[tuple[Slice, str | None, int | None]], wanted: set[Slice], until: int | None
) -> None:
    first = store.read.last()
    transitions = [
        replace(
            chain(slice_, "released")[-1],
            seq=first + number,
            event_id=f"{first + number}",
            record_time=NOON + timedelta(seconds=number),
            facts=Facts(snapshot_id=version, row_count=rows),
        )
        for number, (slice_, version, rows) in enumerate(told, start=1)
    ]
    store.write.append(transitions, after=first)
    when = None if until is None else NOON + timedelta(seconds=until)
    expected: dict[Slice, Any] = {}
    for transition in store.read.after(0):
        facts, slice_ = transition.facts, transition.slice
        is_told = facts.snapshot_id is not None or facts.row_count is not None
        if is_told and slice_ in wanted and (when is None or transition.record_time <= when):
            version = int(facts.snapshot_id) if facts.snapshot_id and facts.snapshot_id.isdecimal() else None
            expected[slice_] = ToldData(version, facts.row_count)
    assert told_data(store.database, wanted, when) == expected
