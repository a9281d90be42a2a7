"""Data of another system that arrives once more reaches its readers: hour, day and week, however it is told."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import dagster as dg
import pytest

from tests.center.detectors.test_outside import SIDES, OutsideWorld
from tests.center.test_reports import report
from tidemark.center.detectors.late_counts import LateCountsDetector
from tidemark.dependency_model.slice import Slice
from tidemark.state_store.record_counts import RecordCount, RecordCounts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

HOUR, DAY, WEEK = "2024-06-01T07", "2024-06-01", "2024-05-27"
START = "start: 2024-06-01"
READERS = {
    "per_hour": f"{{period: hour, {START}T07, end: 2024-06-01T08, depends_on: [{{entity: clicks, offset: Set 0}}]}}",
    "per_day": "{period: day, start: 2024-06-01, end: 2024-06-02, depends_on: [{entity: per_hour, offset: Set 7}]}",
    "per_week": "{period: week, start: 2024-05-27, end: 2024-06-03, depends_on: [{entity: per_day, offset: Set 5}]}",
    "own": "{period: hour, start: 2024-06-01T07, end: 2024-06-01T08, reprocess: never, depends_on: [clicks]}",
    "asks": "{period: hour, start: 2024-06-01T07, end: 2024-06-01T08, reprocess: ask, depends_on: [clicks]}",
}
SLICES = {"per_hour": HOUR, "per_day": DAY, "per_week": WEEK, "own": HOUR, "asks": HOUR}


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as opened:
        yield opened


class ArrivalWorld(OutsideWorld):
    """One external hour and its readers, all of them computed from it."""

    def __init__(self, folder: Path, instance: dg.DagsterInstance, probe: str = "") -> None:
        clicks = f"kind: Virtual\nperiod: hour\nstart: {HOUR}\nend: 2024-06-01T08\n{probe}"
        super().__init__(folder, instance, clicks=clicks, **READERS)

    def compute_ready(self) -> None:
        for number in range(10):
            self.center.tick()
            for text in self.ready():
                self.run(text, f"{text} {self.store.read.last()} {number}")

    def compute_first(self) -> None:
        self.compute_ready()
        assert set(self.generations().values()) == {1}
        assert all(self.center.status(Slice(name, key)).valid for name, key in SLICES.items())

    def generations(self) -> dict[str, int]:
        return {name: self.center.status(Slice(name, key)).generation for name, key in SLICES.items()}


FOLLOWED = {"per_hour": 2, "per_day": 2, "per_week": 2, "own": 1, "asks": 1}


def assert_followed(world: ArrivalWorld) -> None:
    assert world.center.status(Slice("clicks", HOUR)).generation == 2
    world.compute_ready()
    assert world.generations() == FOLLOWED
    assert world.center.status(Slice("asks", HOUR)).tainted
    assert all(world.center.status(Slice(name, key)).valid for name, key in SLICES.items() if name != "asks")


@pytest.mark.parametrize(
    "second",
    [
        ("backfill_requested", "observed"),
        ("backfill_requested", "completed"),
        ("backfill_requested", "started", "completed"),
        ("backfill_requested", "failed", "observed"),
        ("deleted", "observed"),
        ("deleted", "completed"),
        ("observed changed",),
        ("completed changed",),
    ],
    ids=" ".join,
)
def test_what_others_report_again(tmp_path: Path, instance: dg.DagsterInstance, second: Sequence[str]) -> None:
    world = ArrivalWorld(tmp_path, instance)
    report(world, f"clicks@{HOUR}", "observed")
    world.compute_first()
    for word in second:
        event, _, changed = word.partition(" ")
        report(world, f"clicks@{HOUR}", event, **({"changed": True} if changed else {}))
    assert_followed(world)


@pytest.mark.parametrize("more", [{}, {"changed": False}], ids=["silent", "the same"])
def test_what_repeats_a_report_changes_nothing(
    tmp_path: Path, instance: dg.DagsterInstance, more: dict[str, bool]
) -> None:
    world = ArrivalWorld(tmp_path, instance)
    report(world, f"clicks@{HOUR}", "observed")
    world.compute_ready()
    for event in ("observed", "completed"):
        assert report(world, f"clicks@{HOUR}", event, **more) == 0
    assert world.ready() == []


def test_late_counts(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    world = ArrivalWorld(tmp_path, instance, "probe: {counts: {of: foo}, settle_for: 1m}")
    counts = RecordCounts(world.store.database)
    minute = int(world.graph.window(Slice("clicks", HOUR)).start.timestamp()) // 60 + 7
    late = LateCountsDetector(counts, world.center, world.store.read, world.look)
    counts.report([RecordCount("foo", minute, side, "0", 100) for side in SIDES], {"foo": minute + 600})
    late.poll()
    world.go_on(10)
    world.compute_first()
    counts.report([RecordCount("foo", minute + 1, "source", "1", 1_000)], {})
    assert late.poll() == 1
    world.compute_ready()
    assert set(world.generations().values()) == {1}
    counts.report([RecordCount("foo", minute + 1, "lake", "1", 1_000)], {})
    world.now += timedelta(minutes=11)
    world.go_on(30)
    assert_followed(world)


def test_data_that_a_probe_is_asked_to_look_for_again(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    folder = tmp_path / "07"
    world = ArrivalWorld(tmp_path, instance, f"probe: {{files: {{path: '{tmp_path}/{{start:%H}}'}}, settle_for: 1m}}")
    folder.mkdir()
    (folder / "part.csv").write_text("1\n")
    world.go_on(10)
    world.compute_first()
    report(world, f"clicks@{HOUR}", "backfill_requested")
    (folder / "part.csv").write_text("1\n2\n")
    world.go_on(30)
    assert_followed(world)


@pytest.mark.parametrize("late", ["restate", "keep"])
def test_data_that_is_corrected_where_it_lies(tmp_path: Path, instance: dg.DagsterInstance, late: str) -> None:
    """Nobody says so: the probe looks at what is there for a day."""
    folder = tmp_path / "07"
    world = ArrivalWorld(
        tmp_path,
        instance,
        f"probe: {{files: {{path: '{tmp_path}/{{start:%H}}'}}, settle_for: 1m, recheck_for: 3d, late: {late}}}",
    )
    folder.mkdir()
    (folder / "part.csv").write_text("1\n")
    world.go_on(10)
    world.compute_first()
    world.go_on(40)
    assert world.ready() == []
    world.detector = world.open_detector()
    (folder / "part.csv").write_text("1\n2\n")
    world.go_on(80)
    told = instance.fetch_materializations(dg.AssetKey(["clicks"]), limit=10).records
    assert len(told) == (2 if late == "restate" else 1)
    if late == "restate":
        assert_followed(world)
    assert world.ready() == []
    world.now += timedelta(days=4)
    world.go_on(15)
    (folder / "part.csv").write_text("1\n2\n3\n")
    world.go_on(80)
    assert world.ready() == []
    assert len(world.detector.crawler) == 0
