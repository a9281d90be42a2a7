"""Notes and entries that processes of all hosts share."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from tidemark.state_store.errors import FencedError
from tidemark.state_store.held_leases import holding
from tidemark.state_store.journal import StoredJournal
from tidemark.state_store.notes import Notes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.state_store.database import Database


def test_the_newest_content_of_each_name_and_kind(database: Database) -> None:
    notes, others = Notes(database, "a"), Notes(database, "b")
    notes.put({"x": "1", "y": "2"})
    notes.put({"x": 'é "3" \\ {}'})
    others.put({"x": "other"})
    assert notes.all() == {"x": 'é "3" \\ {}', "y": "2"}
    assert (notes.get("x"), notes.get("z"), others.get("x")) == ('é "3" \\ {}', None, "other")
    notes.remove("x", "z")
    assert (notes.all(), others.all()) == ({"y": "2"}, {"x": "other"})


def test_one_of_many_simultaneous_notes_stays(database: Database) -> None:
    notes = Notes(database, "a")
    with ThreadPoolExecutor(4) as pool:
        there = set(pool.map(lambda number: notes.add("x", str(number)), range(20)))
    assert there == {notes.get("x")}


def test_no_writer_interrupts_a_revision_of_notes(database: Database) -> None:
    notes = Notes(database, "a")

    def next_number(before: Mapping[str, str]) -> Mapping[str, str]:
        return {"x": str(int(before.get("x", "0")) + 1)}

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: notes.revise(next_number), range(40)))
    assert notes.get("x") == "40"


def test_a_holder_that_lost_its_lease_writes_nothing(database: Database) -> None:
    notes = Notes(database, "a")
    with holding(database, ["one", "two"], "testing") as held:
        notes.put({"x": "1"}, held.fences)
        fences = held.fences
    with holding(database, "two", "testing"), pytest.raises(FencedError, match="'two' is lost"):
        notes.put({"x": "2"}, [*fences[:0], fences[1]])
    assert notes.get("x") == "1"


def test_entries_keep_their_order(database: Database) -> None:
    journal, others = StoredJournal(database, "a"), StoredJournal(database, "b")
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: journal.add(f"s{number % 2}", str(number)), range(40)))
    others.add("s0", "other")
    journal.add("s0", "100", "101")
    assert list(journal.of("s0"))[-2:] == ["100", "101"]
    assert sorted(map(int, journal.of("s1"))) == list(range(1, 40, 2))
    assert list(journal.all()) == [*journal.of("s0"), *journal.of("s1")]
    assert list(others.of("s0")) == ["other"]
