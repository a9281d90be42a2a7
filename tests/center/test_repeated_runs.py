"""Runs that people repeat, cancel, delete or start: Dagster copies tags, and a run is known by its own id."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import dagster as dg
import pytest

from tests.center.changing_world import DAY, ChangingWorld
from tests.examples import each
from tidemark.center.detectors.event_log import EventLogDetector
from tidemark.center.launchers.run_tags import run_tags
from tidemark.dagster.granted_slice_manifests import FORCE_TAG, granted_manifests, manifest_metadata
from tidemark.dagster_internals.run_launcher import LaunchRunContext
from tidemark.dependency_model.slice import Slice
from tidemark.warm_runs.errors import WorkersDownError
from tidemark.warm_runs.run_identity import (
    OutsideEnd,
    mark_ended,
    mark_refused,
    own_tag,
    refused_assets,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tidemark.compute.runtime import Runtime

    Body = Callable[[dg.AssetExecutionContext], dict[str, Any] | None]

TEXTS = {
    "raw": "{period: day, kind: Virtual}",
    "clean": "{period: day, depends_on: [raw]}",
    "kpi": "{period: day, depends_on: [clean]}",
}
PARTITIONS = dg.StaticPartitionsDefinition([DAY])


class RepeatedRuns:
    """A center that reads Dagster's event log, and what the daemon and people do with Dagster's runs."""

    def __init__(self, folder: Path, instance: dg.DagsterInstance, **texts: str) -> None:
        self.world, self.instance = ChangingWorld(folder, {**TEXTS, **texts}), instance
        self.begin()

    def begin(self) -> None:
        self.detector = EventLogDetector(self.instance, self.world.center, self.world.store.read)

    def tick(self) -> list[str]:
        self.detector.poll()
        return self.world.step()

    def arrives(self) -> None:
        self.instance.report_runless_asset_event(dg.AssetMaterialization("raw", partition=DAY))

    def observes_again(self) -> None:
        self.world.tell(f"raw@{DAY}", "completed", run=f"theirs {self.world.generation('raw')}")

    @property
    def asked(self) -> dict[str, str]:
        """The tags of the run that was asked for last."""
        run_id, names = list(self.world.runs.slices.items())[-1]
        return run_tags(self.world.graph, run_id, [Slice.parse(name) for name in names], "default")

    def asset(self, body: Body) -> dg.AssetsDefinition:
        @dg.asset(name="clean", partitions_def=PARTITIONS)
        def computed() -> dg.MaterializeResult[Any]:
            return dg.MaterializeResult(metadata=body(dg.AssetExecutionContext.get()) or {})

        return computed

    def run(self, tags: dict[str, str] | None = None, body: Body = lambda _: None) -> dg.ExecuteInProcessResult:
        """A run from its beginning to its end; what `body` does happens while it is under way."""
        asset = self.asset(body)
        return dg.materialize([asset], instance=self.instance, partition_key=DAY, tags=tags or {}, raise_on_error=False)

    def queued(self, tags: dict[str, str] | None = None, **more: Any) -> dg.DagsterRun:
        """A run that no worker has begun."""
        job = dg.Definitions(assets=[self.asset(lambda _: None)]).resolve_implicit_global_asset_job_def()
        return self.instance.create_run_for_job(
            job,
            tags={"dagster/partition": DAY, **(tags or {})},
            asset_selection=frozenset({dg.AssetKey("clean")}),
            **more,
        )

    def reads(self, context: dg.AssetExecutionContext) -> dict[str, Any]:
        """What a step of the run may open, as it tells it in its metadata."""
        runtime = SimpleNamespace(warehouse=SimpleNamespace(graph=self.world.graph), state=self.world.store.read)
        slice_ = Slice("clean", DAY)
        manifest = granted_manifests(context, cast("Runtime", runtime), [slice_])[slice_]
        self.read = manifest.used_slices["raw"][0].generation
        return manifest_metadata(manifest)


def repeated(tags: dict[str, str], run_id: str) -> dict[str, str]:
    """What Dagster gives a run that is executed again."""
    return {**tags, "dagster/parent_run_id": run_id, "dagster/root_run_id": run_id}


def fails(_: dg.AssetExecutionContext) -> None:
    raise RuntimeError("the disk is full")


@pytest.fixture
def home(tmp_path: Path) -> Iterator[RepeatedRuns]:
    with dg.instance_for_test(temp_dir=str(tmp_path)) as instance:
        made = RepeatedRuns(tmp_path, instance)
        made.arrives()
        assert made.tick() == [f"clean@{DAY}"]
        yield made


def test_a_run_that_is_executed_again_makes_a_generation(home: RepeatedRuns) -> None:
    tags = home.asked
    first = home.run(tags)
    assert home.tick() == [f"kpi@{DAY}"]
    home.world.end(f"kpi@{DAY}")
    home.run(repeated(tags, first.run_id))
    assert home.tick() == [f"kpi@{DAY}"]
    assert home.world.generation("clean") == 2
    assert home.tick() == []


def test_it_reads_what_is_there_now(home: RepeatedRuns) -> None:
    tags = home.asked
    first = home.run(tags, home.reads)
    assert home.read == 1
    home.tick()
    home.observes_again()
    home.run(repeated(tags, first.run_id), home.reads)
    assert home.read == home.world.generation("raw") == 2


def test_while_it_goes_on_it_has_its_slice(home: RepeatedRuns) -> None:
    tags = home.asked
    first = home.run(tags, fails)
    home.tick()
    asked: list[list[str]] = []

    def meanwhile(_: dg.AssetExecutionContext) -> None:
        home.world.later(minutes=6)
        asked.append(home.tick())

    home.run(repeated(tags, first.run_id), meanwhile)
    assert asked == [[]]
    assert home.world.state("clean") == "running"


def test_one_that_begins_before_the_first_is_known_to_have_ended_has_its_slice(home: RepeatedRuns) -> None:
    tags = home.asked
    first = home.queued(tags)
    home.tick()
    home.instance.report_run_failed(first)
    again = home.queued(repeated(tags, first.run_id))
    home.tick()
    assert home.world.state("clean") == "running"
    home.instance.report_run_canceled(again)
    home.tick()
    assert home.world.events(f"clean@{DAY}").endswith("failed forced started cancelled")


def test_it_is_let_run_under_a_service(tmp_path: Path) -> None:
    launcher = {"run_launcher": {"module": "tidemark.warm_runs.launcher", "class": "WarmRunLauncher"}}
    with dg.instance_for_test(temp_dir=str(tmp_path), overrides=launcher) as instance:
        home = RepeatedRuns(tmp_path, instance)
        home.arrives()
        home.tick()
        tags = home.asked
        first = home.queued(tags, run_id=tags["tidemark/run"])
        instance.report_run_failed(first)
        again = home.queued(tags, parent_run_id=first.run_id, root_run_id=first.run_id)
        copied = home.queued(tags)
        for run in (again, copied):
            with pytest.raises(WorkersDownError):  # it comes as far as to look for a host of workers
                instance.run_launcher.launch_run(LaunchRunContext(run, None))
        doubled = home.queued({**tags, "dagster/run_key": first.run_id})
        instance.run_launcher.launch_run(LaunchRunContext(doubled, None))
        assert _run(home, doubled).status is dg.DagsterRunStatus.CANCELED


def test_a_run_with_copied_tags_makes_a_generation(home: RepeatedRuns) -> None:
    tags = home.asked
    home.run({**tags, "dagster/run_key": tags["tidemark/run"]})
    assert home.tick() == [f"kpi@{DAY}"]
    home.world.end(f"kpi@{DAY}")
    home.run(tags)
    assert home.tick() == [f"kpi@{DAY}"]
    assert home.world.generation("clean") == 2


def test_copied_tags_say_nothing(home: RepeatedRuns) -> None:
    first = home.queued({FORCE_TAG: "the board meets at nine"})
    mark_refused(home.instance, first.run_id, "clean")
    mark_ended(home.instance, first.run_id, OutsideEnd.INTERRUPTED)
    tags = dict(_run(home, first).tags)
    again = home.queued(repeated(tags, first.run_id))
    assert (own_tag(again, FORCE_TAG), refused_assets(again)) == ("", [])
    mark_refused(home.instance, again.run_id, "kpi")
    assert (refused_assets(_run(home, first)), refused_assets(_run(home, again))) == (["clean"], ["kpi"])
    home.tick()
    home.instance.report_run_failed(first)
    home.tick()
    assert "refused" in home.world.events(f"clean@{DAY}")


@pytest.mark.parametrize(
    ("end", "asked"),
    [("cancelled", []), ("interrupted", [f"clean@{DAY}"]), ("lost", [f"clean@{DAY}"]), ("deleted", [f"clean@{DAY}"])],
)
@pytest.mark.parametrize("is_own", each(2, [True, False]), ids=["of the center", "by hand"])
def test_what_follows_says_how_a_run_ended(home: RepeatedRuns, end: str, asked: list[str], *, is_own: bool) -> None:
    run = home.queued(home.asked if is_own else {})
    home.tick()
    assert home.world.state("clean") == "running"
    if end == "cancelled":
        home.instance.report_run_canceling(run)
        home.instance.report_run_canceled(run)
    elif end == "deleted":
        home.instance.delete_run(run.run_id)
    else:
        mark_ended(home.instance, run.run_id, OutsideEnd(end))
        home.instance.report_run_failed(run)
    assert home.tick() == asked
    home.world.later(minutes=6)
    assert home.tick() == []


def test_a_slice_whose_runs_are_lost_again_and_again_has_failed(home: RepeatedRuns) -> None:
    for _ in range(4):
        run = home.queued(home.asked)
        home.tick()
        mark_ended(home.instance, run.run_id, OutsideEnd.LOST)
        home.instance.report_run_failed(run)
        home.tick()
    assert home.world.events(f"clean@{DAY}").split().count("lost") == 3
    assert home.world.state("clean") == "failed"


def test_a_run_of_another_scheduler_is_not_taken_for_deleted(home: RepeatedRuns) -> None:
    home.world.tell(f"clean@{DAY}", "started", run="airflow-4711")
    for _ in range(2):
        assert home.tick() == []
    assert home.world.state("clean") == "running"


def test_inputs_that_change_while_a_run_by_hand_is_under_way_are_found(home: RepeatedRuns) -> None:
    home.run(home.asked)
    home.tick()

    def meanwhile(context: dg.AssetExecutionContext) -> dict[str, Any]:
        told = home.reads(context)
        home.detector.poll()
        home.observes_again()
        return told

    home.run(body=meanwhile)
    assert home.tick() == [f"clean@{DAY}"]
    assert home.world.store.read.reads([Slice("clean", DAY)])[Slice("clean", DAY)] == [(Slice("raw", DAY), 2)]


def _run(home: RepeatedRuns, run: dg.DagsterRun) -> dg.DagsterRun:
    present = home.instance.get_run_by_id(run.run_id)
    assert present is not None
    return present
