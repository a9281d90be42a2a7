"""The run launcher in dagster.yaml: sends runs to warm workers, or to a new process.

Each of Dagster's processes (web server, daemon, code server) and the center have one. There is only one host.
"""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Self

from dagster import Array, Bool, DagsterRun, DagsterRunStatus, DefaultRunLauncher, Field, Int

from tidemark.dagster_internals.run_launcher import (
    GRPC_INFO_TAG,
    CheckRunHealthResult,
    ConfigurableClass,
    LaunchRunContext,
    RunLauncher,
    WorkerStatus,
)
from tidemark.state_store.worker_runs import Stop
from tidemark.system.run_config import check_run_config, check_run_tags
from tidemark.system.settings import Settings
from tidemark.warm_runs.close_runs import tell_end
from tidemark.warm_runs.errors import WorkersDownError
from tidemark.warm_runs.host_socket import ask
from tidemark.warm_runs.run_identity import POOL_TAG, RUN_TAG, is_of_sensor, own_tag
from tidemark.warm_runs.run_journal import Journal
from tidemark.warm_runs.shared_runs import SharedRuns
from tidemark.warm_runs.worker_options import DEFAULT_OPTIONS, WarmWorkerOptions, host_folder

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from dagster import DagsterInstance

    from tidemark.dagster_internals.run_launcher import ConfigurableClassData

NOT_BEGUN: Final = (DagsterRunStatus.NOT_STARTED, DagsterRunStatus.STARTING)
"""Statuses of a run that no worker has begun."""


class WarmRunLauncher(RunLauncher["DagsterInstance"], ConfigurableClass):
    """A run launcher, by Dagster's extension point as in dagster-docker and dagster-k8s."""

    def __init__(
        self, options: WarmWorkerOptions = DEFAULT_OPTIONS, inst_data: ConfigurableClassData | None = None
    ) -> None:
        self.options, self._inst_data = options, inst_data
        self._new_process = DefaultRunLauncher()
        super().__init__()  # type: ignore[no-untyped-call]

    @property
    def inst_data(self) -> ConfigurableClassData | None:
        return self._inst_data

    @classmethod
    def config_type(cls) -> dict[str, Field]:
        return {
            "modules": Field(Array(str), default_value=list(DEFAULT_OPTIONS.modules), is_required=False),
            "watch": Field(Array(str), default_value=list(DEFAULT_OPTIONS.watch), is_required=False),
            "workers": Field(Int, is_required=False),
            "runs_a_worker": Field(Int, default_value=DEFAULT_OPTIONS.runs_a_worker, is_required=False),
            "megabytes": Field(Int, default_value=DEFAULT_OPTIONS.megabytes, is_required=False),
            "waiting": Field(Int, default_value=DEFAULT_OPTIONS.waiting, is_required=False),
            "load_seconds": Field(Int, default_value=DEFAULT_OPTIONS.load_seconds, is_required=False),
            "silent_seconds": Field(Int, default_value=DEFAULT_OPTIONS.silent_seconds, is_required=False),
            "wait_told_seconds": Field(Int, default_value=DEFAULT_OPTIONS.wait_told_seconds, is_required=False),
            "spark": Field(Bool, default_value=DEFAULT_OPTIONS.spark, is_required=False),
        }

    @classmethod
    def from_config_value(cls, inst_data: ConfigurableClassData, config_value: Mapping[str, Any]) -> Self:
        values: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in config_value.items()
        }
        values.setdefault("workers", Settings.load(os.environ).slots)
        return cls(WarmWorkerOptions(**values), inst_data)

    def register_instance(self, instance: DagsterInstance) -> None:
        super().register_instance(instance)
        self._new_process.register_instance(instance)

    def launch_run(self, context: LaunchRunContext) -> None:
        """Send the run to an idle worker here, else to another host, else to the queue here, else to a new process.

        Raises WorkersDownError if there is neither a host nor a workspace to start a process, and StateStoreDownError,
        RunConfigRefusedError.
        """
        check_run_config(dict(context.dagster_run.run_config))
        check_run_tags(context.dagster_run.tags)
        if self._is_doubled(context.dagster_run):
            self._instance.report_run_canceled(
                context.dagster_run, "A center has already started this run with its own id."
            )
            return
        run_id, shared = context.dagster_run.run_id, self._shared
        if shared is not None and (self._begins_here(run_id) or shared.offer(run_id)):
            return
        try:
            if ask(self._folder, {"do": "run", "run": run_id})["taken"]:
                return
            raise WorkersDownError.of(self._folder, "a host that is full, or whose workers do not start")
        except WorkersDownError:
            if context.workspace is None or own_tag(context.dagster_run, POOL_TAG) in self._places:
                raise  # a new process would have the Spark settings of this host
        self._new_process.launch_run(context)

    def _begins_here(self, run_id: str) -> bool:
        """Whether a worker of this host begins the run at once."""
        try:
            return bool(ask(self._folder, {"do": "run", "run": run_id, "when": "room"})["taken"])
        except WorkersDownError:
            return False

    def _is_doubled(self, run: DagsterRun) -> bool:
        """Whether a center already has a run for the sensor's request.

        A killed daemon requests the runs of its last tick again, which a center may have taken over since. A run that
        repeats another one, or has copied tags, was requested by a person.
        """
        asked = own_tag(run, RUN_TAG)
        return asked != run.run_id and is_of_sensor(run) and self._instance.has_run(asked)

    def terminate(self, run_id: str) -> bool:
        run = self._instance.get_run_by_id(run_id)
        if run is None or run.is_finished:
            return False
        if GRPC_INFO_TAG in run.tags:
            return bool(self._new_process.terminate(run_id))  # type: ignore[no-untyped-call]
        self._instance.report_run_canceling(run)
        try:
            is_here = bool(ask(self._folder, {"do": "stop", "run": run_id})["found"])
            return is_here or self._is_stopped_elsewhere(run_id)
        except WorkersDownError as error:
            if self._is_stopped_elsewhere(run_id):
                return True
            self._instance.report_engine_event(f"The run cannot be stopped: {error}", run, cls=type(self))
            return False

    def _is_stopped_elsewhere(self, run_id: str) -> bool:
        """Whether another host gets the request to stop, or no host will begin the run."""
        stop = Stop.UNKNOWN if self._shared is None else self._shared.stop(run_id)
        if stop is Stop.ENDED:
            tell_end(self._instance, run_id, "The run was stopped before a host had taken it.")
        return stop is not Stop.UNKNOWN

    @property
    def supports_check_run_worker_health(self) -> bool:
        return True

    def check_run_worker_health(self, run: DagsterRun) -> CheckRunHealthResult:
        """The health of a run by its host. A run elsewhere is unknown here and counts as running."""
        if GRPC_INFO_TAG in run.tags or not self._is_here(run.run_id):
            return CheckRunHealthResult(WorkerStatus.RUNNING)
        try:
            at = ask(self._folder, {"do": "where", "run": run.run_id})["at"]
        except WorkersDownError as error:
            return CheckRunHealthResult(WorkerStatus.FAILED, str(error))
        return CheckRunHealthResult(WorkerStatus.NOT_FOUND if at == "unknown" else WorkerStatus.RUNNING)

    def has_taken(self, run_id: str) -> bool:
        """Whether a host, alive or not, has taken the run or will take it, and has not ended it yet."""
        return self._is_here(run_id) or (self._shared is not None and self._shared.is_open(run_id))

    def _is_here(self, run_id: str) -> bool:
        """Whether this host has taken the run and not ended it, by its journal."""
        return Journal(self._folder).holds(run_id)

    @cached_property
    def _shared(self) -> SharedRuns | None:
        return SharedRuns.of(self.options)

    @cached_property
    def _places(self) -> frozenset[str]:
        return frozenset(place.name for place in Settings.load(os.environ).places)

    @property
    def _folder(self) -> Path:
        return host_folder(self._instance)
