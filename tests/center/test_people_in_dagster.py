"""People start, repeat, cancel, delete and back-fill on a real Dagster instance while a center works, under both hosts.

Their actions are the requests of Dagster's pages. The runs compute nothing. No slice has two writers, no tick raises,
the project changes, and in the end each slice is computed from its present inputs.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import warnings
from random import Random
from typing import TYPE_CHECKING, ClassVar, Final

import dagster as dg
import pytest
from dagster._core.definitions.job_base import InMemoryJob
from dagster._core.execution.api import execute_run
from dagster._core.remote_origin import (
    InProcessCodeLocationOrigin,
    RemoteJobOrigin,
    RemoteRepositoryOrigin,
)
from dagster._core.types.loadable_target_origin import LoadableTargetOrigin
from dagster._core.workspace.context import WorkspaceProcessContext
from dagster._core.workspace.load_target import InProcessWorkspaceLoadTarget
from dagster._daemon.backfill import execute_backfill_iteration
from dagster_graphql.schema import create_schema

from tests.center import people_location
from tests.center.people_location import DAYS
from tests.examples import each
from tests.project import write_project
from tidemark.center.code_location import CodeLocation
from tidemark.center.fact import Fact
from tidemark.center.launch_policy import LaunchPolicy
from tidemark.center.sensor_host import SensorHost
from tidemark.center.service import Service
from tidemark.dependency_model.backfill import BackfillPhase
from tidemark.dependency_model.readiness.self_starting_slices import is_computed_here
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Event, RunState
from tidemark.state_store.backfills import Backfills
from tidemark.system.settings import Settings
from tidemark.system.utc_clock import utc_now
from tidemark.warehouse.warehouse import load_warehouse
from tidemark.warm_runs.launcher import WarmRunLauncher
from tidemark.warm_runs.run_identity import OutsideEnd, mark_ended

if TYPE_CHECKING:
    from pathlib import Path

    from tidemark.dagster_internals.run_launcher import LaunchRunContext

FILES: Final = {
    "project.yaml": "start: 2026-03-02\nend: 2026-03-04\nowner: who@shop.example\n",
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
ALONE: Final = "SELECT n FROM kpi WHERE dt = :biz_date"
PROJECTS: Final[dict[str, dict[str, str]]] = {
    "whole": {},
    "without city": {"dws/city.yaml": "", "dws/city.sql": "", "ads/board.sql": ALONE},
    "kpi renamed": {
        "dws/kpi.yaml": "",
        "dws/kpi.sql": "",
        "dws/gross.yaml": "period: day\n",
        "dws/gross.sql": FILES["dws/kpi.sql"],
        "ads/board.sql": FILES["ads/board.sql"].replace("kpi", "gross"),
    },
    "city starts later": {"dws/city.yaml": f"period: day\nstart: {DAYS[1]}\n", "ads/board.sql": ALONE},
    "city asks": {"dws/city.yaml": "period: day\nreprocess: ask\n"},
    "kpi of others": {"dws/kpi.yaml": "period: day\nkind: Virtual\n", "dws/kpi.sql": ""},
}
ENDS: Final = ("well", "well", "failed", "cancelled", "deleted", "interrupted", "lost")
ACTIONS: Final = (
    *("tick", "tick", "tick", "end", "end", "end", "end", "by hand", "repeat", "arrives"),
    *("backfill", "daemon", "daemon", "cancel backfill", "restart", "project"),
)
LOGGER: Final = logging.getLogger("dagster.backfill")

LAUNCH: Final = """mutation ($asked: ExecutionParams!) { launchPipelineExecution(executionParams: $asked) {
  __typename ... on PythonError { message } } }"""
REPEAT: Final = """mutation ($asked: ReexecutionParams!) { launchRunReexecution(reexecutionParams: $asked) {
  __typename ... on PythonError { message } } }"""
BACKFILL: Final = """mutation ($asked: LaunchBackfillParams!) { launchPartitionBackfill(backfillParams: $asked) {
  __typename ... on PythonError { message } } }"""
CANCEL_BACKFILL: Final = """mutation ($asked: String!) { cancelPartitionBackfill(backfillId: $asked) {
  __typename ... on PythonError { message } } }"""
TERMINATE: Final = """mutation ($asked: String!) { terminateRun(
  runId: $asked, terminatePolicy: MARK_AS_CANCELED_IMMEDIATELY) {
  __typename ... on PythonError { message } } }"""
DELETE: Final = """mutation ($asked: String!) { deleteRun(runId: $asked) {
  __typename ... on PythonError { message } } }"""


class TakesEverything(WarmRunLauncher):
    """Warm workers that take each run, and begin none by themselves."""

    taken: ClassVar[list[dg.DagsterRun]] = []

    def launch_run(self, context: LaunchRunContext) -> None:
        if self._is_doubled(context.dagster_run):
            self._instance.report_run_canceled(context.dagster_run)
        else:
            self.taken.append(context.dagster_run)

    def has_taken(self, run_id: str) -> bool:  # noqa: ARG002
        """It takes each run."""
        return True

    def terminate(self, run_id: str) -> bool:
        run = self._instance.get_run_by_id(run_id)
        if run is None or run.is_finished:
            return False
        self._instance.report_run_canceling(run)
        self._instance.report_run_canceled(run)
        return True


LAUNCHER: Final = {
    "run_launcher": {"module": __name__, "class": "TakesEverything"},
    "run_coordinator": {"module": "dagster._core.run_coordinator", "class": "DefaultRunCoordinator"},
}


class People:
    """`going_on` holds the runs that have not ended, by id: the sensor's are Dagster's runs once it has asked."""

    def __init__(self, folder: Path, instance: dg.DagsterInstance, seed: int) -> None:
        self.folder, self.instance, self.random = folder, instance, Random(seed)
        self.going_on: dict[str, frozenset[Slice]] = {}
        self.over: list[str] = []
        self.done: list[str] = []
        self.job = people_location.definitions.resolve_implicit_global_asset_job_def()
        target = LoadableTargetOrigin(
            executable_path=sys.executable, module_name=people_location.__name__, attribute="definitions"
        )
        self.origin = InProcessCodeLocationOrigin(loadable_target_origin=target, location_name="people")
        self.workspace = WorkspaceProcessContext(instance, InProcessWorkspaceLoadTarget(self.origin))
        self.schema = create_schema()
        TakesEverything.taken.clear()
        people_location.failing.clear()
        self.project("whole")
        self.arrives()

    def act(self, action: str) -> None:
        self.done.append(action)
        {
            "tick": self.tick,
            "end": self.end,
            "by hand": self.by_hand,
            "repeat": self.repeat,
            "arrives": self.arrives,
            "backfill": self.backfill,
            "daemon": self.daemon,
            "cancel backfill": self.cancel_backfill,
            "restart": self.restart,
            "project": self.project,
        }[action]()

    def project(self, name: str | None = None) -> None:
        name = name or self.random.choice([*PROJECTS])
        self.done.append(name)
        files = {path: text for path, text in {**FILES, **PROJECTS[name]}.items() if text}
        root = write_project(self.folder / f"project {len(self.done)}", files, "time_zone: UTC\n")
        self.warehouse = load_warehouse(Settings.at(self.folder / "data", root=root), root / "warehouse_assets")
        self.restart()

    def restart(self) -> None:
        self.host = SensorHost(self.warehouse)
        self.knows()

    def knows(self) -> None:
        people_location.project.warehouse, people_location.project.state = self.warehouse, self.host.store.read

    def close(self) -> None:
        self.workspace.__exit__(None, None, None)

    def computed(self) -> list[Slice]:
        graph = self.warehouse.graph
        there = [slice_ for name in graph for slice_ in graph.slices(name, utc_now())]
        return [slice_ for slice_ in there if is_computed_here(graph, slice_)]

    def arrives(self, slice_: Slice | None = None) -> None:
        there = slice_ or Slice("raw", self.random.choice(DAYS))
        self.instance.report_runless_asset_event(dg.AssetMaterialization(there.entity, partition=there.key))

    def tick(self) -> None:
        for request in self.host.tick(self.instance):
            selection = frozenset(request.asset_selection or ())
            tags = {**request.tags, "dagster/sensor_name": "readiness", "dagster/run_key": request.run_key or ""}
            self.launched(self.create(selection, tags))
        self.take_over()
        assert not self.troubles(), self.troubles()

    def create(self, selection: frozenset[dg.AssetKey], tags: dict[str, str]) -> dg.DagsterRun:
        """As the daemon does for a sensor."""
        return self.instance.create_run_for_job(
            self.job.get_subset(asset_selection=selection),
            tags=tags,
            asset_selection=selection,
            remote_job_origin=self.job_origin,
        )

    @property
    def job_origin(self) -> RemoteJobOrigin:
        return RemoteJobOrigin(RemoteRepositoryOrigin(self.origin, "__repository__"), self.job.name)

    def launched(self, run: dg.DagsterRun) -> None:
        """The center has asked for it: no other run has its slices."""
        slices = slices_of(run)
        for other, own in self.going_on.items():
            assert not own & slices, f"{run.run_id} and {other} write {own & slices}"
        assert slices <= {*self.computed()}, f"{slices} are not computed here"
        self.going_on[run.run_id] = slices

    def take_over(self) -> None:
        """Runs that people, and backfills of Dagster's pages, have launched since."""
        while TakesEverything.taken:
            run = TakesEverything.taken.pop(0)
            self.going_on[run.run_id] = slices_of(run)

    def troubles(self) -> list[str]:
        return [word for word in self.host.summary().split("; ")[1:] if "retries exhausted" not in word]

    def end(self, how: str | None = None) -> None:
        if not self.going_on:
            return
        run_id = self.random.choice([*self.going_on])
        run, how = self.instance.get_run_by_id(run_id), how or self.random.choice(ENDS)
        if run is None or run.is_finished:  # by hand, or with its backfill
            del self.going_on[run_id]
        elif how in ("well", "failed"):
            people_location.failing.update({run_id} if how == "failed" else ())
            job = self.job.get_subset(asset_selection={*run.asset_selection}) if run.asset_selection else self.job
            execute_run(InMemoryJob(job), run, self.instance)
        else:
            self.end_from_outside(run, how)
        self.going_on.pop(run_id, None)
        self.over.append(run_id)

    def end_from_outside(self, run: dg.DagsterRun, how: str) -> None:
        if how == "deleted":
            self.ask(DELETE, run.run_id)
        elif how == "cancelled":
            self.ask(TERMINATE, run.run_id)
        else:
            mark_ended(self.instance, run.run_id, OutsideEnd(how))
            self.instance.report_run_failed(run)

    def by_hand(self) -> None:
        name, day = self.random.choice([*people_location.READS]), self.random.choice(DAYS)
        where = {"repositoryName": "__repository__", "repositoryLocationName": "people", "pipelineName": self.job.name}
        tags = [{"key": "dagster/partition", "value": day}]
        selector = {**where, "assetSelection": [{"path": [name]}]}
        self.ask(LAUNCH, {"selector": selector, "mode": "default", "executionMetadata": {"tags": tags}})

    def repeat(self) -> None:
        there = [run for run_id in self.over if (run := self.instance.get_run_by_id(run_id)) and run.is_finished]
        if there:
            run = self.random.choice(there)
            from_failure = run.status is dg.DagsterRunStatus.FAILURE and self.random.random() < 0.3
            strategy = "FROM_FAILURE" if from_failure else "ALL_STEPS"
            self.ask(REPEAT, {"parentRunId": run.run_id, "strategy": strategy})

    def backfill(self) -> None:
        names = self.random.sample([*people_location.READS], self.random.randint(1, 3))
        days = self.random.sample(DAYS, self.random.randint(1, 2))
        self.ask(BACKFILL, {"assetSelection": [{"path": [name]} for name in names], "partitionNames": days})

    def cancel_backfill(self) -> None:
        if asked := self.open_backfills("REQUESTED"):
            self.ask(CANCEL_BACKFILL, self.random.choice(asked))

    def daemon(self) -> None:
        """One look of Dagster's daemon at the backfills of its pages."""
        errors = [error for error in execute_backfill_iteration(self.workspace, LOGGER) if error]
        assert not errors, errors
        self.take_over()

    def ask(self, query: str, asked: object) -> None:
        """As Dagster's pages ask its server."""
        context = self.workspace.create_request_context()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Dagster's server calls what Dagster has deprecated
            answer = asyncio.run(
                self.schema.execute_async(query, context_value=context, variable_values={"asked": asked})
            )
        assert not answer.errors, answer.errors
        (told,) = answer.data.values()
        assert told["__typename"].endswith("Success"), told
        self.take_over()

    def settle(self) -> None:
        """Runs end well, and a person answers all questions and asks for all failed slices."""
        for _ in range(40):
            self.everything_arrives()
            self.daemon()
            last = self.host.store.read.last()
            self.tick()
            facts = [fact for slice_ in self.computed() if (fact := self.answer(slice_))]
            self.host.center.report(facts)
            is_answered = self.answer_backfills()
            has_ended = bool(self.going_on)
            while self.going_on:
                self.end("well")
            if self.host.store.read.last() == last and not is_answered and not has_ended:
                if not self.open_backfills():
                    break
                self.cancel_backfill()  # Dagster waits for a run that was deleted
        else:
            raise AssertionError(f"it does not come to an end: {self.done}")
        for slice_ in self.computed():
            self.require_sound(slice_)

    def require_sound(self, slice_: Slice) -> None:
        """It is computed from what is there now, or a cancelled backfill says why not."""
        status = self.host.center.status(slice_)
        assert status.run_state is RunState.COMPLETED, f"{self.host.center.explain(slice_)}\n{self.done}"
        assert status.valid, f"{slice_}: {status}"
        if self.warehouse.graph.entity(slice_.entity).reprocess.value == "always":
            for used, generation in self.host.store.read.reads([slice_])[slice_] or ():
                now = self.host.center.status(used)
                is_read = now.generation == generation or self.was_cancelled(used, slice_)
                assert is_read, f"{slice_} has read generation {generation} of {used}: {now}\n{self.done}"

    def was_cancelled(self, used: Slice, reader: Slice) -> bool:
        """Whether a backfill of Dagster's pages that was cancelled has computed an input, and not its reader."""
        for row in self.stored.rows():
            members = {member.slice: member for member in self.stored.members(row.number)}
            if {used, reader} <= members.keys() and members[reader].why == "its backfill in Dagster ended without it":
                return True
        return False

    @property
    def stored(self) -> Backfills:
        return Backfills(self.host.store.database)

    def answer_backfills(self) -> bool:
        """Whether one of the center's own backfills goes on, or asked something."""
        rows = self.stored.rows([BackfillPhase.RUNNING, BackfillPhase.PAUSED, BackfillPhase.CANCELLING])
        for row in rows:
            self.stored.answer(row.number, None, rebuild=True)
        return bool(rows)

    def everything_arrives(self) -> None:
        graph = self.warehouse.graph
        for slice_ in (slice_ for name in graph for slice_ in graph.slices(name, utc_now())):
            if not self.is_there(slice_) and not is_computed_here(graph, slice_):
                self.arrives(slice_)

    def is_there(self, slice_: Slice) -> bool:
        return self.host.center.status(slice_).run_state is RunState.COMPLETED

    def open_backfills(self, *states: str) -> list[str]:
        open_ = states or ("REQUESTED", "CANCELING", "COMPLETING", "FAILING")
        return [own.backfill_id for own in self.instance.get_backfills() if own.status.name in open_]

    def answer(self, slice_: Slice) -> Fact | None:
        status, now = self.host.center.status(slice_), utc_now()
        if status.run_state is RunState.FAILED:
            return Fact(f"asked {now} {slice_}", slice_, Event.RETRIED, now, "ann")
        if status.run_state is RunState.COMPLETED and status.tainted:
            return Fact(f"answered {now} {slice_}", slice_, Event.BACKFILL_REQUESTED, now, "ann")
        return None


def slices_of(run: dg.DagsterRun) -> frozenset[Slice]:
    names = [key.to_user_string() for key in run.asset_selection or ()]
    day = run.tags.get("dagster/partition")
    start, end = run.tags.get("dagster/asset_partition_range_start"), run.tags.get("dagster/asset_partition_range_end")
    days = [day] if day else [other for other in DAYS if start and end and start <= other <= end]
    return frozenset(Slice(name, key) for name in names for key in days)


class PeopleAtService(People):
    """The runs that the service creates are in Dagster with the ids that it gave them."""

    service: Service | None = None

    def restart(self) -> None:
        self.let_go()
        location = CodeLocation(self.job, None, self.job_origin)  # type: ignore[arg-type]  # no process loads it
        policy = LaunchPolicy(together=1, across=1)
        self.service = Service(self.warehouse, self.instance, location, lambda *_, **__: None, policy)
        self.service.leadership.__enter__()
        self.host = self.service  # type: ignore[assignment]
        self.knows()

    def let_go(self) -> None:
        if self.service is not None:
            self.service.leadership.__exit__()
            self.service.store.close()

    def close(self) -> None:
        self.let_go()
        super().close()

    def tick(self) -> None:
        assert self.service is not None
        assert self.service._is_active()
        self.service._reconcile_at = 0.0
        self.service._work()
        while TakesEverything.taken:
            self.launched(TakesEverything.taken.pop(0))
        assert not self.troubles(), self.troubles()

    def troubles(self) -> list[str]:
        assert self.service is not None
        parts = (self.service._intake.isolated, self.service._dispatch.isolated, self.service._steps)
        return [line for steps in parts for line in steps.summary]


HOSTS: Final = {"sensor": People, "service": PeopleAtService}


def play(host: str, folder: Path, seed: int, actions: int) -> None:
    with dg.instance_for_test(temp_dir=str(folder), overrides=LAUNCHER) as instance:
        people = HOSTS[host](folder, instance, seed)
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


@pytest.mark.parametrize("host", each(2, HOSTS))
def test_people_in_dagster(tmp_path: Path, host: str) -> None:
    play(host, tmp_path, 0, 6)


@pytest.mark.long
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_people_in_dagster_for_long(tmp_path: Path, host: str, seed: int) -> None:
    play(host, tmp_path, seed, 200)
