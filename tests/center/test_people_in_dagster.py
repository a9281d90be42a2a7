"""People start, repeat, cancel and delete runs on a real Dagster instance while a center works, under both hosts.

What the runs compute is nothing. Nobody has two runs for one slice, no tick raises, and in the end everything is there.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, ClassVar, Final

import dagster as dg
import pytest
from dagster._core.definitions.job_base import InMemoryJob
from dagster._core.execution.api import execute_run

from tests.project import write_project
from tidemark.center.code_location import CodeLocation
from tidemark.center.fact import Fact
from tidemark.center.launch_policy import LaunchPolicy
from tidemark.center.sensor_host import SensorHost
from tidemark.center.service import Service
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Event, RunState
from tidemark.system.settings import Settings
from tidemark.system.utc_clock import utc_now
from tidemark.warehouse.warehouse import load_warehouse
from tidemark.warm_runs.launcher import WarmRunLauncher
from tidemark.warm_runs.run_identity import RUN_TAG, OutsideEnd, mark_ended

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tidemark.dagster_internals.run_launcher import LaunchRunContext

DAY: Final = "2026-03-02"
PARTITIONS: Final = dg.StaticPartitionsDefinition([DAY])
FILES: Final = {
    "project.yaml": "start: 2026-03-02\nend: 2026-03-03\nowner: who@shop.example\n",
    "ods/raw.yaml": "period: day\nkind: Virtual\n",
    "dwd/clean.yaml": "period: day\n",
    "dwd/clean.sql": "SELECT id FROM raw WHERE dt = :biz_date",
    "dws/kpi.yaml": "period: day\n",
    "dws/kpi.sql": "SELECT count(*) AS n FROM clean WHERE dt = :biz_date",
    "dws/city.yaml": "period: day\nreprocess: if_changed\n",
    "dws/city.sql": "SELECT max(id) AS n FROM clean WHERE dt = :biz_date",
    "ads/board.yaml": "period: day\n",
    "ads/board.sql": "SELECT k.n FROM kpi k JOIN city c ON k.n = c.n WHERE k.dt = :biz_date AND c.dt = :biz_date",
}
ENDS: Final = ("well", "well", "failed", "cancelled", "deleted", "interrupted", "lost")
ACTIONS: Final = ("tick", "tick", "end", "end", "end", "by hand", "repeat", "arrives", "restart")
COMPUTED: Final = [Slice(name, DAY) for name in ("clean", "kpi", "city", "board")]


class People:
    """`asked` holds the requests that the daemon has not carried out yet, by the id of the launch."""

    def __init__(self, folder: Path, instance: dg.DagsterInstance, seed: int) -> None:
        root = write_project(folder / "project", FILES, "time_zone: UTC\n")
        self.warehouse = load_warehouse(Settings.at(folder / "data", root=root), root / "warehouse_assets")
        self.instance, self.random = instance, Random(seed)
        self.asked: dict[str, tuple[Slice, Mapping[str, str]]] = {}
        self.over: list[tuple[Slice, str, Mapping[str, str]]] = []
        self.restart()
        self.arrives()

    def act(self, action: str) -> None:
        {
            "tick": self.tick,
            "end": self.end,
            "by hand": self.by_hand,
            "repeat": self.repeat,
            "arrives": self.arrives,
            "restart": self.restart,
        }[action]()

    def restart(self) -> None:
        self.host = SensorHost(self.warehouse)

    def close(self) -> None:
        """Nothing of a sensor goes on."""

    def arrives(self) -> None:
        self.instance.report_runless_asset_event(dg.AssetMaterialization("raw", partition=DAY))

    def tick(self) -> None:
        for request in self.host.tick(self.instance):
            (key,) = request.asset_selection or ()
            tags = dict(request.tags)
            slice_, launch = Slice(key.to_user_string(), tags["dagster/partition"]), tags[RUN_TAG]
            others = {known for known, (own, _) in self.asked.items() if own == slice_} - {launch}
            assert not others, f"{slice_} has two writers"
            self.asked[launch] = slice_, tags
        assert not self.troubles(), self.troubles()

    def troubles(self) -> list[str]:
        return [word for word in self.host.summary().split("; ")[1:] if "retries exhausted" not in word]

    def end(self, how: str | None = None) -> None:
        if self.asked:
            slice_, tags = self.asked.pop(sorted(self.asked)[self.random.randrange(len(self.asked))])
            self.run(slice_, tags, how or self.random.choice(ENDS))

    def by_hand(self) -> None:
        slice_ = self.random.choice(COMPUTED)
        if slice_ not in {own for own, _ in self.asked.values()}:
            self.run(slice_, {"dagster/partition": slice_.key}, "well")

    def repeat(self) -> None:
        if self.over:
            slice_, run_id, tags = self.random.choice(self.over)
            if slice_ not in {own for own, _ in self.asked.values()}:
                copied = {**tags, "dagster/parent_run_id": run_id, "dagster/root_run_id": run_id}
                self.run(slice_, copied, self.random.choice(ENDS))

    def run(self, slice_: Slice, tags: Mapping[str, str], how: str) -> None:
        """A run from its beginning to its end; those that do not end by themselves were only created."""
        is_failing = how == "failed"

        @dg.asset(name=slice_.entity, partitions_def=PARTITIONS)
        def computed() -> None:
            if is_failing:
                raise RuntimeError("the disk is full")

        if how in ("well", "failed"):
            ended = dg.materialize(
                [computed], instance=self.instance, partition_key=slice_.key, tags=dict(tags), raise_on_error=False
            )
            self.over.append((slice_, ended.run_id, tags))
            return
        job = dg.Definitions(assets=[computed]).resolve_implicit_global_asset_job_def()
        selection = frozenset({dg.AssetKey(slice_.entity)})
        run = self.instance.create_run_for_job(job, tags=dict(tags), asset_selection=selection)
        self.tick()
        self.end_from_outside(run, slice_, how)

    def end_from_outside(self, run: dg.DagsterRun, slice_: Slice, how: str) -> None:
        if how == "deleted":
            self.instance.delete_run(run.run_id)
            return
        if how == "cancelled":
            self.instance.report_run_canceling(run)
            self.instance.report_run_canceled(run)
        else:
            mark_ended(self.instance, run.run_id, OutsideEnd(how))
            self.instance.report_run_failed(run)
        self.over.append((slice_, run.run_id, run.tags))

    def settle(self) -> None:
        """Everybody is done: runs end well, and somebody asks for what has failed."""
        for number in range(20):
            self.tick()
            failed = [slice_ for slice_ in COMPUTED if self.state(slice_) is RunState.FAILED]
            now = utc_now()
            self.host.center.report(
                [Fact(f"asked {now} {number} {slice_}", slice_, Event.RETRIED, now, "ann") for slice_ in failed]
            )
            if not failed and not self.asked:
                break
            while self.asked:
                self.end("well")
        assert {slice_: self.state(slice_) for slice_ in COMPUTED} == dict.fromkeys(COMPUTED, RunState.COMPLETED)

    def state(self, slice_: Slice) -> RunState:
        return self.host.center.status(slice_).run_state


class TakesEverything(WarmRunLauncher):
    """Warm workers that take each run, and begin none by themselves."""

    taken: ClassVar[list[dg.DagsterRun]] = []

    def launch_run(self, context: LaunchRunContext) -> None:
        self.taken.append(context.dagster_run)

    def has_taken(self, run_id: str) -> bool:  # noqa: ARG002
        """Each of those that it was given."""
        return True


class PeopleAtService(People):
    """The runs that the service creates are in Dagster with the ids that it gave them."""

    service: Service | None = None

    def __init__(self, folder: Path, instance: dg.DagsterInstance, seed: int) -> None:
        TakesEverything.taken.clear()
        super().__init__(folder, instance, seed)

    def restart(self) -> None:
        self.close()
        self.failing: set[str] = set()
        assets = [self.asset(slice_.entity) for slice_ in COMPUTED]
        self.job = dg.Definitions(assets=assets, executor=dg.in_process_executor)
        job = self.job.resolve_implicit_global_asset_job_def()
        location = CodeLocation(job, None, None)  # type: ignore[arg-type]  # no process loads it
        policy = LaunchPolicy(together=1, across=1)
        self.service = Service(self.warehouse, self.instance, location, lambda *_, **__: None, policy)
        self.service.leadership.__enter__()
        self.host = self.service  # type: ignore[assignment]

    def asset(self, name: str) -> dg.AssetsDefinition:
        @dg.asset(name=name, partitions_def=PARTITIONS)
        def computed() -> None:
            if name in self.failing:
                raise RuntimeError("the disk is full")

        return computed

    def close(self) -> None:
        if self.service is not None:
            self.service.leadership.__exit__()
            self.service.store.close()

    def tick(self) -> None:
        assert self.service is not None
        assert self.service._is_active()
        self.service._reconcile_at = 0.0
        self.service._work()
        while TakesEverything.taken:
            run = TakesEverything.taken.pop(0)
            assert run.asset_selection
            (key,) = run.asset_selection
            slice_ = Slice(key.to_user_string(), run.tags["dagster/partition"])
            others = {known for known, (own, _) in self.asked.items() if own == slice_}
            assert not others, f"{slice_} has two writers"
            self.asked[run.run_id] = slice_, run.tags
        assert not self.troubles(), self.troubles()

    def troubles(self) -> list[str]:
        assert self.service is not None
        parts = (self.service._intake.isolated, self.service._dispatch.isolated, self.service._steps)
        return [line for steps in parts for line in steps.summary]

    def end(self, how: str | None = None) -> None:
        """Of a run that the service asked for: it is in Dagster already."""
        if not self.asked:
            return
        launch = sorted(self.asked)[self.random.randrange(len(self.asked))]
        slice_, tags = self.asked.pop(launch)
        run, how = self.instance.get_run_by_id(launch), how or self.random.choice(ENDS)
        assert run is not None
        if how not in ("well", "failed"):
            self.end_from_outside(run, slice_, how)
            return
        self.failing = {slice_.entity} if how == "failed" else set()
        job = self.job.resolve_implicit_global_asset_job_def().get_subset(asset_selection={dg.AssetKey(slice_.entity)})
        execute_run(InMemoryJob(job), run, self.instance)
        self.failing = set()
        self.over.append((slice_, launch, tags))


LAUNCHER: Final = {"run_launcher": {"module": __name__, "class": "TakesEverything"}}
HOSTS: Final = {"sensor": (People, {}), "service": (PeopleAtService, LAUNCHER)}


def play(host: str, folder: Path, seed: int, actions: int) -> None:
    kind, overrides = HOSTS[host]
    with dg.instance_for_test(temp_dir=str(folder), overrides=overrides) as instance:
        people = kind(folder, instance, seed)
        try:
            for number in range(1, actions + 1):
                people.act(people.random.choice(ACTIONS))
                if number % 25 == 0:
                    people.settle()
            people.settle()
        finally:
            people.close()


def test_a_run_that_is_deleted_before_the_service_has_read_of_it_is_asked_for_again(tmp_path: Path) -> None:
    with dg.instance_for_test(temp_dir=str(tmp_path), overrides=LAUNCHER) as instance:
        people = PeopleAtService(tmp_path, instance, 0)
        try:
            people.tick()
            people.end("deleted")
            people.settle()
        finally:
            people.close()


@pytest.mark.parametrize("host", HOSTS)
def test_people_in_dagster(tmp_path: Path, host: str) -> None:
    play(host, tmp_path, 0, 6)


@pytest.mark.long
@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_people_in_dagster_for_long(tmp_path: Path, host: str, seed: int) -> None:
    play(host, tmp_path, seed, 200)
