"""Questions about many slices go by the index, however many transitions there are, and answer about all of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import event

from tests.state_store.examples import chain
from tidemark.catalog.told_data import told_data
from tidemark.dependency_model.slice import Slice
from tidemark.state_store.database import Database
from tidemark.state_store.slice_profiles import SliceProfiles
from tidemark.state_store.store import StateStore
from tidemark.state_store.transition import Facts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tidemark.state_store.transition import Transition


SLICES = [Slice(f"e{number % 7}", f"2026-{number:04}", (("r", "cn"),) if number % 3 else ()) for number in range(700)]
QUESTIONS: dict[str, Callable[[StateStore], object]] = {
    "versions": lambda store: store.read.versions(SLICES),
    "launches": lambda store: store.read.launches(SLICES),
    "reads": lambda store: store.read.reads(SLICES),
    "currents": lambda store: store.read.currents(SLICES),
    "told data": lambda store: told_data(store.database, SLICES),
    "profiles": lambda store: SliceProfiles(store.database).of(SLICES),
    "sketches": lambda store: SliceProfiles(store.database).mergeable(SLICES),
}


def tell(store: StateStore, slices: Sequence[Slice]) -> None:
    """Each was launched, and told a version."""
    transitions: list[Transition] = []
    first = store.read.last()
    for slice_ in slices:
        for transition in chain(slice_, "released launched"):
            seq = first + len(transitions) + 1
            facts = Facts(snapshot_id=str(seq)) if transition.event.value == "launched" else transition.facts
            transitions.append(replace(transition, seq=seq, event_id=f"{seq}", facts=facts))
    store.write.append(transitions, after=first)


def test_each_of_more_slices_than_a_statement_holds_is_answered(store: StateStore) -> None:
    tell(store, [*SLICES, Slice("e0", "2027-0001"), Slice("e1", SLICES[0].key)])
    expected = {slice_: str(2 * (number + 1)) for number, slice_ in enumerate(SLICES)}
    assert store.read.versions(SLICES) == expected
    assert {slice_: step.facts.snapshot_id for slice_, step in store.read.launches(SLICES).items()} == expected
    assert {slice_: str(told.version) for slice_, told in told_data(store.database, SLICES).items()} == expected
    assert store.read.versions([]) == {}


def test_rows_that_came_without_a_version_have_none(store: StateStore) -> None:
    first, second = SLICES[:2]
    tell(store, [first, second])
    after = store.read.last()
    steps = chain(first, "released launched started completed")
    again = [replace(step, seq=after + number, event_id=f"again {number}") for number, step in enumerate(steps, 1)]
    store.write.append([replace(step, facts=Facts()) for step in again], after=after)
    assert store.read.versions([first, second]) == {second: "4"}


@pytest.mark.parametrize("question", QUESTIONS)
def test_sqlite_goes_through_no_table(tmp_path: Path, question: str) -> None:
    """PostgreSQL plans by what it has counted."""
    database = Database.at(tmp_path / "state.db")
    store = StateStore(database)
    asked: list[tuple[str, Any]] = []
    event.listen(database.engine, "before_cursor_execute", lambda *told: asked.append((told[2], told[3])))
    QUESTIONS[question](store)
    assert asked
    statements = list(asked)
    with database.engine.connect() as connection:
        plans = [connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {text}", values).all() for text, values in statements]
    steps = [row[3] for plan in plans for row in plan]
    assert any("USING INDEX" in step for step in steps)
    assert [step for step in steps if step.startswith("SCAN") and "wanted" not in step] == []
