"""Whatever others report, of whatever slice, wherever it is: the center goes on, and launches its own slices alone."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tests.center.launchers import MemoryLauncher
from tests.center.test_center import NOW, CenterWorld
from tests.center.test_dispatch import dispatch_of
from tests.examples import each
from tidemark.center.detectors.external_report import EVENTS, Report, facts_of
from tidemark.center.errors import RequestError
from tidemark.center.report_vocabulary import REPORTED, VOCABULARY, MadeBy, made_by
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Event, Quality, RunState, apply
from tidemark.dependency_model.status.slice_status import SliceStatus
from tidemark.errors import TransitionError
from tidemark.state_store.transition import Facts, Transition

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

DAY = "2024-06-01"
ENTITIES = {
    "clicks": "{period: day, kind: Virtual}",
    "orders": "{period: day, kind: Snapshot, source: {table: shop.orders, instances: [a]}, key: [id]}",
    "totals": "{period: day, depends_on: [clicks]}",
    "regions": "{period: day, kind: Virtual, sub_partitions: {region: [cn, us]}}",
    "canvas": "{period: day, kind: Project}",
    "hours": "{period: hour, kind: Virtual, start: 2024-05-30, end: 2024-08-01}",
    "hourly": "{period: hour, depends_on: [hours], start: 2024-05-30, end: 2024-08-01}",
    "parts": "{period: day, sub_partitions: {region: [cn, us]}, depends_on: [regions]}",
    "running": "{period: day, kind: Cumulative, depends_on: [totals, {entity: running, offset: Set -1}]}",
    "other": "period: day",
    "sliding": "{period: day, kind: Sliding, granularity: week, depends_on: [clicks]}",
    "codes": "{kind: Static}",
}
SUBJECTS = {
    "clicks@{}": MadeBy.OTHERS,
    "orders@{}": MadeBy.THIS_PROJECT,
    "regions@{}/region=cn": MadeBy.OTHERS,
    "regions@{}": MadeBy.NOBODY,
    "totals@{}": MadeBy.THIS_PROJECT,
    "hours@{}T03": MadeBy.OTHERS,
    "hourly@{}T03": MadeBy.THIS_PROJECT,
    "parts@{}/region=us": MadeBy.THIS_PROJECT,
    "parts@{}": MadeBy.NOBODY,
    "running@{}": MadeBy.THIS_PROJECT,
    "canvas@{}": MadeBy.NOBODY,
    "sliding@{}": MadeBy.THIS_PROJECT,
    "codes@static": MadeBy.OTHERS,
}
MADE_HERE = {"orders", "totals", "hourly", "parts", "running", "other", "sliding"}
WAYS: dict[str, Sequence[str]] = {
    "waiting": (),
    "running": ("started",),
    "failed": ("started", "failed"),
    "completed": ("started", "completed"),
    "completed twice": ("started", "completed", "backfill_requested", "started", "completed"),
    "waiting again": ("started", "completed", "backfill_requested"),
    "invalid": ("started", "completed", "quality_failed"),
    "absent": ("started", "completed", "deleted"),
    "tainted": ("started", "completed", "tainted"),
    "foreign": ("started", "completed", "overwritten"),
    "with faults that are ignored": ("started", "completed", "quality_failed", "quality_ignored"),
    "cancelled": ("started", "cancelled"),
    "lost": ("started", "lost"),
    "partial": ("started", "completed", "lacking"),
}
STORED: dict[str, Sequence[str]] = {"ready": ("released",), "launched": ("released", "launched")}
"""States that no report brings about; an external slice has them in a store of an earlier version only."""


def report(world: CenterWorld, subject: str, event: str, **more: Any) -> int:
    """As it comes over HTTP or a topic."""
    number = world.store.read.last()
    body = {"subject": subject, "event": event, "event_id": f"{event} {number} {more}", "event_time": NOW.isoformat()}
    return world.center.report(facts_of(json.dumps({**body, **more}).encode(), world.center.graph), strict=True).new


@pytest.mark.parametrize("way", each(3, [*WAYS, *STORED]))
def test_no_report_ends_a_tick_or_launches_what_others_make(tmp_path: Path, way: str) -> None:
    """Each word has a day of each subject, after what happened to that already."""
    world, launcher = CenterWorld(tmp_path, **ENTITIES), MemoryLauncher()
    world.now = NOW + timedelta(days=len(EVENTS))
    days = [(NOW + timedelta(days=number - 2)).date() for number in range(len(EVENTS))]
    stored = {form.format(day) for form, maker in SUBJECTS.items() if maker is not MadeBy.NOBODY for day in days}
    for event in STORED.get(way, ()):
        for subject in sorted(stored):
            _append_as(world, subject, event, f"run of {subject}")
    world.center = world.open_center()
    for day, event in zip(days, EVENTS, strict=True):
        for form, maker in SUBJECTS.items():
            subject = form.format(day)
            for earlier, run in _with_runs(WAYS.get(way, ())):
                if Event(earlier) in VOCABULARY[maker]:
                    with suppress(TransitionError):
                        report(world, subject, earlier, run_id=run)
            is_word = Event(event) in VOCABULARY[maker]
            with suppress(TransitionError) if is_word else pytest.raises(RequestError):
                report(world, subject, event)
    dispatch = dispatch_of(world, launcher, "default=1000")
    for _ in range(2):
        world.center.tick()
        dispatch.step()
        world.now += dispatch._policy.wait
    assert dispatch.isolated.troubles == {}
    launched = {Slice.parse(slice_) for group in launcher.groups for slice_ in group}
    assert {"other"} <= {slice_.entity for slice_ in launched} <= MADE_HERE
    assert sum(slice_.entity == "other" for slice_ in launched) == len(EVENTS) + 2
    world.center = world.open_center()
    again = MemoryLauncher()
    dispatch_of(world, again).recover()
    assert {Slice.parse(slice_) for group in again.groups for slice_ in group} == launched


@pytest.mark.parametrize(("subject", "maker"), SUBJECTS.items())
def test_what_nobody_may_report_of_a_slice_is_refused_with_what_to_report(
    tmp_path: Path, subject: str, maker: MadeBy
) -> None:
    world, subject = CenterWorld(tmp_path, **ENTITIES), subject.format(DAY)
    slice_ = Slice.parse(subject)
    assert made_by(world.center.graph.node(slice_.entity), slice_) is maker
    for event in set(REPORTED) - VOCABULARY[maker]:
        with pytest.raises(RequestError, match=f"{event.value} cannot be reported for {slice_.entity}.*expected one"):
            report(world, subject, event.value)
    assert world.store.read.last() == 0


def test_the_words_are_an_enumeration_of_the_interface() -> None:
    assert Report.model_json_schema()["properties"]["event"]["enum"] == [*EVENTS]
    assert {"released", "launched", "forced", "withdrawn", "flagged"}.isdisjoint(EVENTS)


@pytest.mark.parametrize("before", [(), ("failed",), ("started",), ("started", "failed"), ("started", "lost")])
def test_external_data_is_there_once_somebody_says_so(tmp_path: Path, before: Sequence[str]) -> None:
    world = CenterWorld(tmp_path, **ENTITIES)
    for event in before:
        assert report(world, f"clicks@{DAY}", event) == 1
        assert world.center.status(Slice("clicks", DAY)).run_state in (RunState.RUNNING, RunState.FAILED)
    assert report(world, f"clicks@{DAY}", "observed") == 1
    status = world.center.status(Slice("clicks", DAY))
    assert (status.run_state, status.valid, status.generation) == (RunState.COMPLETED, True, 1)
    assert f"totals@{DAY}" in world.ready()


def test_a_store_that_says_that_an_external_slice_was_launched_is_no_hindrance(tmp_path: Path) -> None:
    """Of an earlier version, which did launch it."""
    world, launcher = CenterWorld(tmp_path, **ENTITIES), MemoryLauncher()
    world.tell(f"other@{DAY}", "started")
    for event in ("released", "launched"):
        _append_as(world, f"clicks@{DAY}", event)
    world.center = world.open_center()
    dispatch = dispatch_of(world, launcher)
    world.center.tick()
    dispatch.step()
    assert all(not slice_.startswith("clicks") for group in launcher.groups for slice_ in group)
    report(world, f"clicks@{DAY}", "observed")
    assert world.center.status(Slice("clicks", DAY)).valid


def test_every_state_of_a_run_is_generated(tmp_path: Path) -> None:
    reached: set[object] = {RunState.WAITING, Quality.UNKNOWN}
    for number, (way, events) in enumerate({**WAYS, **STORED}.items()):
        world = CenterWorld(tmp_path / str(number), **ENTITIES)
        for event, run in _with_runs(events):
            if way in STORED:
                _append_as(world, f"other@{DAY}", event)
            else:
                assert report(world, f"other@{DAY}", event, run_id=run) == 1
            current = world.store.read.current(Slice("other", DAY))
            assert current
            status = current.status
            reached |= {status.run_state, status.quality, *status.states, *({"tainted"} if status.tainted else ())}
    assert {*RunState, *Quality, "completed", "backfilled", "foreign", "partial", "tainted"} <= reached


def _with_runs(events: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each event with its run: a start without a run says nothing of a slice that this project makes."""
    for number, event in enumerate(events):
        yield event, f"run {events[: number + 1].count('started')}"


def _append_as(world: CenterWorld, text: str, event: str, run: str = "r1") -> None:
    """Straight into the store, whatever the center says of it."""
    slice_, last = Slice.parse(text), world.store.read.last()
    current = world.store.read.current(slice_)
    status = apply(current.status if current else SliceStatus(), Event(event))
    data = Facts(run_id=run)
    transition = Transition(last + 1, f"{event} {last}", slice_, Event(event), status, "old", "", NOW, NOW, data)
    world.store.write.append([transition], after=last, cursors={})
