"""The check `valid` of each touched partition, in a real Dagster storage: failed with its cause, passed, told once."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import dagster as dg
import pytest
from dagster._core.event_api import PartitionKeyFilter

from tests.center.test_center import CenterWorld
from tidemark.center import validity_checks
from tidemark.center.validity_checks import ValidityChecks
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status.flaws import VALIDITY_CHECK
from tidemark.warehouse.dagster_partition_keys import partition_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HOUR = "foo_1h@2024-06-01T15"
TENS = [f"foo_10min@2024-06-01T15:{minute}0" for minute in range(6)]
OTHER = "foo_10min@2024-06-01T14:50"
DAY, HELD, LOOSE = "foo_1d@2024-06-01", "report@2024-06-01T15", "loose@2024-06-01T15"
RULES = "quality: [{unique: [id]}]"
HOURS = "period: hour, start: 2024-06-01T14, end: 2024-06-01T16"
DECLARED = {
    "foo_10min": "{period: 10min, series: foo, start: 2024-06-01T14, end: 2024-06-01T16}",
    "foo_1h": f"{{{HOURS}, series: foo, {RULES}, depends_on: [foo_10min]}}",
    "foo_1d": "{period: day, series: foo, start: 2024-06-01, end: 2024-06-02, depends_on: [foo_1h]}",
    "report": f"{{{HOURS}, depends_on: [foo_1h]}}",
    "users": f"{{{HOURS}, depends_on: [foo_10min]}}",
    "loose": f"{{{HOURS}, depends_on: [{{entity: foo_10min, quality: ignore}}]}}",
}
BROKEN = "unique: 3 rows are not alone"


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as opened:
        yield opened


class ShownWorld(CenterWorld):
    """Two hours of a series and who reads them; Dagster is told by one process after the other."""

    def __init__(self, folder: Path, instance: dg.DagsterInstance, **declared: str) -> None:
        super().__init__(folder, **(declared or DECLARED))
        self.instance = instance
        self.restart()
        self.center.tick()

    def restart(self) -> None:
        self.center = self.open_center()
        self.checks = ValidityChecks(self.center)

    def poll(self) -> int:
        return self.checks.poll(self.instance, self.now)

    def told(self) -> int:
        """Poll until nothing is to be told; how much was."""
        return sum(iter(self.poll, 0))

    def work(self) -> None:
        """Everything that is ready is computed, and its rules hold."""
        while ready := self.ready():
            for text in ready:
                self.run(text, f"{text} {self.center.status(Slice.parse(text)).generation}")
                self.pass_rules(text)

    def pass_rules(self, text: str) -> None:
        if self.graph.entity(Slice.parse(text).entity).quality:
            self.tell(text, "quality_passed", f"passed {text} {self.store.read.last()}")

    def fail(self, text: str) -> None:
        """Published rows that break a rule."""
        self.tell(text, "quality_failed", f"failed {text} {self.store.read.last()}", why=BROKEN)

    def results(self, text: str) -> list[dg.AssetCheckEvaluation]:
        """What Dagster was told of a slice, the newest first."""
        slice_ = Slice.parse(text)
        partition = partition_of(self.graph.entity(slice_.entity), slice_)
        records = self.instance.event_log_storage.get_asset_check_execution_history(
            dg.AssetCheckKey(dg.AssetKey([slice_.entity]), VALIDITY_CHECK),
            limit=9,
            partition_filter=PartitionKeyFilter(key=str(partition)),
        )
        events = [record.event.dagster_event for record in records if record.event]
        return [event.asset_check_evaluation_data for event in events if event]

    def passed(self, text: str) -> list[bool]:
        return [result.passed for result in self.results(text)]


@pytest.fixture
def world(tmp_path: Path, instance: dg.DagsterInstance) -> ShownWorld:
    made = ShownWorld(tmp_path, instance)
    made.work()
    assert made.told() == 0, "of what is valid nothing is told"
    return made


def test_every_partition_that_a_broken_rule_reaches_fails_with_its_cause_and_passes_again(world: ShownWorld) -> None:
    touched = [HOUR, *TENS, DAY, HELD, "users@2024-06-01T15", LOOSE]
    world.fail(HOUR)
    assert (world.told(), world.told()) == (len(touched), 0)
    assert {text: world.passed(text) for text in touched} == {text: [False] for text in touched}
    assert world.passed(OTHER) == world.passed("foo_1h@2024-06-01T14") == []
    descriptions = {text: world.results(text)[0].description for text in (HOUR, TENS[0], DAY, HELD)}
    assert descriptions == {
        HOUR: "its rules are broken",
        TENS[0]: f"the rules of {HOUR} are broken",
        DAY: f"the rules of {HOUR} are broken",
        HELD: "it was computed from an input that was found wrong",
    }
    for text in (HOUR, TENS[0], DAY):
        assert metadata(world, text) == {
            "invalid_slices": HOUR, "broken_rules": f"{HOUR}: {BROKEN}", "explain": explained(text)
        }  # fmt: skip
    assert metadata(world, HELD) == {"tainted": f"quality_failed {HOUR}", "explain": explained(HELD)}

    world.tell(HOUR, "backfill_requested", "again")
    world.work()
    world.told()
    assert {text: world.passed(text)[0] for text in touched} == dict.fromkeys(touched, True)
    assert {len(world.passed(text)) for text in (*TENS, DAY, HOUR)} == {2}
    assert world.told() == 0


def test_the_page_of_the_checks_partitions_counts_what_is_told(world: ShownWorld) -> None:
    """Dagster counts a result only as one of the partition's newest materialization."""
    counted = []
    for happens in (world.fail, lambda hour: world.tell(hour, "quality_ignored")):
        for text in (HOUR, TENS[2]):
            slice_ = Slice.parse(text)
            partition = partition_of(world.graph.entity(slice_.entity), slice_)
            world.instance.report_runless_asset_event(dg.AssetMaterialization(slice_.entity, partition=partition))
        happens(HOUR)
        world.told()
        checks = [dg.AssetCheckKey(dg.AssetKey([name]), VALIDITY_CHECK) for name in ("foo_1h", "foo_10min")]
        infos = world.instance.event_log_storage.get_asset_check_partition_info(checks)
        status = {info.partition_key: info.latest_execution_status.value for info in infos if info.is_current}
        counted.append((status["2024-06-01-15:00"], status["2024-06-01-15:20"]))
    assert counted == [("FAILED", "FAILED"), ("SUCCEEDED", "SUCCEEDED")]


def explained(text: str) -> str:
    return f"tidemark explain {text.replace('@', ' ')}"


def metadata(world: ShownWorld, text: str) -> dict[str, Any]:
    return {name: value.value for name, value in world.results(text)[0].metadata.items()}


def test_who_waits_for_an_invalid_slice_is_held_and_says_for_which(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    world = ShownWorld(tmp_path, instance)
    while text := next((text for text in world.ready() if text != LOOSE), None):
        world.run(text, text)
        if text == HOUR:
            world.fail(text)
        else:
            world.pass_rules(text)
    world.told()
    (held,) = world.results(HELD)
    assert (held.passed, held.description) == (False, f"it waits for {HOUR}: its rules are broken")
    assert metadata(world, HELD)["broken_rules"] == f"{HOUR}: {BROKEN}"
    assert world.passed(LOOSE) == [], "it takes the windows as they are"
    assert LOOSE in world.ready()
    world.tell(HOUR, "quality_ignored")
    world.told()
    assert world.passed(HELD) == [True, False]


def test_a_refused_slice_holds_as_well(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    world = ShownWorld(tmp_path, instance)
    for text in world.ready():
        world.run(text, text)
    world.center.launch([Slice.parse(HOUR)], "bad", "default")
    world.tell(HOUR, "failed", run="bad")
    assert world.told() == 0, "a run that crashed says nothing of rows"
    world.fail(HOUR)
    world.told()
    assert [world.passed(text) for text in (HOUR, TENS[5], HELD)] == [[False]] * 3


def test_what_comes_to_wait_by_its_time_alone_is_told_then(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    late = "{period: hour, start: 2024-06-03T14, end: 2024-06-03T15, depends_on: [{entity: foo_1h, offset: Set -47}]}"
    world = ShownWorld(tmp_path, instance, **{**DECLARED, "late": late})
    world.work()
    world.fail(HOUR)
    world.told()
    assert world.passed("late@2024-06-03T14") == []
    world.now += timedelta(hours=2)
    world.center.tick()
    world.restart()
    world.told()
    assert world.passed("late@2024-06-03T14") == [False]


def test_a_process_that_dies_between_telling_and_noting_doubles_nothing(
    world: ShownWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.fail(HOUR)

    def die(*_: object) -> None:
        raise RuntimeError("killed")

    with monkeypatch.context() as dying:
        dying.setattr(validity_checks, "note_position", die)
        with pytest.raises(RuntimeError, match="killed"):
            world.poll()
    world.tell("foo_1h@2024-06-01T14", "quality_failed", "another one meanwhile", why=BROKEN)
    world.restart()
    world.told()
    assert {text: world.passed(text) for text in (HOUR, *TENS)} == {text: [False] for text in (HOUR, *TENS)}
    assert world.passed(OTHER) == [False]


def test_a_process_that_dies_amid_many_loses_none(world: ShownWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validity_checks, "_AT_ONCE", 4)
    world.fail(HOUR)
    assert world.poll() == 4
    world.restart()
    assert world.poll() == 4
    world.restart()
    world.told()
    assert all(world.passed(text) == [False] for text in (HOUR, *TENS, DAY, HELD, LOOSE))


def test_what_a_run_told_in_between_is_corrected(world: ShownWorld) -> None:
    """A run of a window ends well and says so, while the hour around it is invalid still."""
    world.fail(HOUR)
    world.told()
    window = TENS[2]
    world.tell(window, "backfill_requested", "again")
    world.run(window, "second run")
    partition = "2024-06-01-15:20"
    said = dg.AssetCheckEvaluation(dg.AssetKey(["foo_10min"]), VALIDITY_CHECK, passed=True, partition=partition)
    event = dg.DagsterEvent("ASSET_CHECK_EVALUATION", "job", event_specific_data=said)
    world.instance.report_dagster_event(event, run_id="second run")
    world.told()
    assert world.passed(window) == [False, True, False]


def test_one_that_the_graph_does_not_have_any_more_passes(world: ShownWorld) -> None:
    world.fail(HOUR)
    world.told()
    world.graph.remove("report")
    world.center.refresh(["report"])
    world.restart()
    assert world.told() >= 1
    assert world.told() == 0
