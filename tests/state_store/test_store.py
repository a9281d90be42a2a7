"""Appended transitions are stored once, in order, and the projection has the last transition."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.state_store.examples import DAY, HOUR, chain
from tidemark.dependency_model.readiness.checkpoint import Checkpoint
from tidemark.dependency_model.readiness.release import Reason
from tidemark.dependency_model.readiness.slice_manifest import ManifestClause, SliceManifest, UsedSlice
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import SliceStatus
from tidemark.state_store.database import Database
from tidemark.state_store.errors import EventKnownError, StateConflictError
from tidemark.state_store.store import StateStore
from tidemark.state_store.transition import Facts

if TYPE_CHECKING:
    from tidemark.state_store.transition import Transition

LIFE = "released launched started completed quality_failed"
TOLD = Facts(
    run_id="4b1",
    cluster="etl",
    row_count=12,
    minimum="2026-03-24",
    maximum="ü",
    snapshot_id="34",
    batch_id="7",
    parameters={"biz_date": "2026-03-24"},
    watermarks={"a": 1_774_000_000_000},
    manifest=SliceManifest(
        Slice("clicks_1d", "2026-03-24"),
        "completed",
        (
            ManifestClause(
                "clicks",
                Reason.AT_LEAST,
                (
                    UsedSlice(Slice("clicks", "2026-03-24T00"), 1, "4", "estimated"),
                    UsedSlice(Slice("clicks", "2026-03-24T01", (("region", "c/n"),)), 2),
                ),
                (Slice("clicks", "2026-03-24T02"),),
            ),
        ),
        "the board waits",
    ),
)


def test_a_new_store_is_empty(store: StateStore) -> None:
    assert (store.read.last(), store.read.everything(), store.read.current(DAY), store.read.cursor("x")) == (
        0,
        (0, []),
        None,
        None,
    )


@pytest.mark.parametrize("slice_", [DAY, HOUR])
def test_all_stored_facts_are_read_back(store: StateStore, slice_: Slice) -> None:
    told = chain(slice_, LIFE, facts=TOLD)
    assert store.write.append(told, after=0) == 5
    assert store.read.history(slice_) == told
    assert store.read.after(3) == told[3:]
    assert store.read.after(0, limit=2) == told[:2]
    assert store.read.history(Slice("orders", "2026-03-25")) == []


def test_the_projection_follows_the_last_transition_and_keeps_the_last_run(store: StateStore) -> None:
    told = chain(DAY, "released launched", facts=TOLD)
    store.write.append(told, after=0)
    later = chain(DAY, "started failed", first=3, status=told[-1].status)
    other = chain(HOUR, "observed", first=5)
    store.write.append([*later, *other], after=2)
    last, everything = store.read.everything()
    by_slice = {current.slice: current for current in everything}
    assert last == 5
    assert {slice_: (current.status, current.seq) for slice_, current in by_slice.items()} == {
        DAY: (later[-1].status, 4),
        HOUR: (other[-1].status, 5),
    }
    assert (by_slice[DAY].run_id, by_slice[DAY].cluster, by_slice[HOUR].run_id) == ("4b1", "etl", None)
    assert store.read.current(DAY) == by_slice[DAY]


def test_the_last_launch_is_found_by_its_slice(store: StateStore) -> None:
    told = chain(DAY, "released launched lost launched started", facts=TOLD)
    store.write.append(told, after=0)
    assert store.read.launches([DAY, HOUR]) == {DAY: told[3]}


def test_a_writer_that_has_not_seen_the_last_transition_is_refused_and_writes_nothing(store: StateStore) -> None:
    store.write.append(chain(DAY, "released"), after=0)
    theirs = chain(HOUR, "observed", first=1)
    with pytest.raises(
        StateConflictError, match=r"expected transition 0 .*found transition 1, written by test at 2026-03-24"
    ):
        store.write.append(theirs, after=0, cursors={"log": "9"})
    assert store.read.current(HOUR) is None
    assert store.read.cursor("log") is None


def test_an_event_id_is_written_once(store: StateStore) -> None:
    (told,) = chain(DAY, "released")
    store.write.append([told], after=0)
    with pytest.raises(EventKnownError):
        store.write.append([replace(told, seq=2)], after=1)
    assert store.read.last() == 1
    assert store.read.known_ids([told.event_id, "other"]) == {told.event_id}


def test_known_ids_of_very_many(store: StateStore) -> None:
    told = [replace(chain(Slice("orders", f"{n}"), "observed", first=n)[0], event_id=str(n)) for n in range(1, 1_201)]
    store.write.append(told, after=0)
    assert store.read.known_ids(map(str, range(2_000))) == {str(n) for n in range(1, 1_201)}
    assert len(store.read.everything()[1]) == 1_200


def test_cursors_are_stored_with_their_transitions(store: StateStore) -> None:
    store.write.append(chain(DAY, "released"), after=0, cursors={"log": "1", "topic": "a"})
    store.write.append([], after=1, cursors={"log": "2"})
    assert (store.read.cursor("log"), store.read.cursor("topic")) == ("2", "a")


def test_writers_take_turns_and_none_overwrites_another(url: str) -> None:
    StateStore(Database(url)).close()

    def write(number: int) -> int:
        mine, written = StateStore(Database(url)), 0
        while written < 5:
            slice_ = Slice("orders", f"{number}-{written}")
            last = mine.read.last()
            try:
                mine.write.append(chain(slice_, "observed", first=last + 1), after=last)
            except StateConflictError:
                continue
            written += 1
        mine.close()
        return written

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(write, range(4))) == [5] * 4
    store = StateStore(Database(url))
    told: list[Transition] = store.read.after(0)
    assert [transition.seq for transition in told] == list(range(1, 21))
    assert len({transition.slice for transition in told}) == 20
    store.close()


def test_a_start_reads_open_and_recent_slices(store: StateStore) -> None:
    days = [Slice("orders", f"2026-03-{day:02}") for day in range(1, 10)]
    told = [transition for day in days for transition in chain(day, "observed")]
    told += [
        *chain(Slice("orders", "2026-02-01"), "released"),
        *chain(Slice("orders", "2026-02-02"), "observed tainted"),
    ]
    store.write.append([replace(transition, seq=seq) for seq, transition in enumerate(told, start=1)], after=0)
    last, currents = store.read.everything("2026-03-08")
    assert (last, sorted(current.slice.key for current in currents)) == (
        12,
        ["2026-02-01", "2026-02-02", "2026-03-08", "2026-03-09"],
    )


def test_slices_are_looked_up_many_at_once_and_backwards_in_time(store: StateStore) -> None:
    slices = [HOUR, *(Slice(name, f"2026-03-{day:02}") for name in ('a"{},\\', "b") for day in range(1, 10))]
    told = [replace(chain(slice_, "observed")[0], seq=seq) for seq, slice_ in enumerate(slices, start=1)]
    store.write.append(told, after=0)
    wanted = [*slices[::3], Slice("b", "2026-04-01")]
    assert sorted(current.slice for current in store.read.currents(wanted)) == sorted(slices[::3])
    currents = store.read.older([('a"{},\\', ()), ("b", ()), ("c", ())], "2026-03-04", 2)
    assert sorted(current.slice.key for current in currents) == ["2026-03-02", "2026-03-02", "2026-03-03", "2026-03-03"]
    assert [current.slice for current in store.read.older([(HOUR.entity, HOUR.sub)], "~", 2)] == [HOUR]
    assert (store.read.older([], "~", 2), store.read.currents([]), len(store.read.completed_slices("b"))) == ([], [], 9)


def test_a_checkpoint_is_noted_and_changes_nothing_that_is_known(store: StateStore) -> None:
    (told,) = chain(DAY, "observed")
    store.write.append([told], after=0)
    store.write.note(Checkpoint(7, [DAY, HOUR], {"orders": "day", "gone": "hour"}, is_last=False), after=1)
    store.write.note(Checkpoint(9, [HOUR], {"gone": ""}, is_last=True), after=1)
    assert store.read.schedules() == (9, {"orders": "day"})
    by_slice = {current.slice: (current.status, current.seq) for current in store.read.everything()[1]}
    assert by_slice == {DAY: (told.status, 1), HOUR: (SliceStatus(), 0)}
    with pytest.raises(StateConflictError):
        store.write.note(Checkpoint(10, [], {}, is_last=True), after=0)
