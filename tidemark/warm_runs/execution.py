"""Executes runs in this process, with definitions that stay loaded."""

from __future__ import annotations

import decimal
import os
import sys
import tempfile
import traceback
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dagster import DagsterInstance, DagsterRun, DagsterRunStatus

from tidemark.dagster_internals.code_locations import (
    CodePointer,
    ModuleCodePointer,
    loadable_targets_from_python_module,
    recon_job_from_origin,
    reconstruct_repository_def_from_pointer,
)
from tidemark.dagster_internals.execution import (
    DagsterExecutionInterruptedError,
    EngineEventData,
    InMemoryJob,
    execute_run_iterator,
    serializable_error_info_from_exc_info,
)
from tidemark.dagster_internals.step_output_files import capture_directly
from tidemark.warm_runs.launcher import NOT_BEGUN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dagster import RepositoryDefinition

    from tidemark.dagster_internals.execution import IJob

_IN_PROCESS: Final = "in_process"


class Execution:
    """Runs of one instance, one after the other, in the main thread."""

    def __init__(self, instance: DagsterInstance, host: str) -> None:
        self._instance, self._host = instance, host
        self._loaded: dict[object, RepositoryDefinition] = {}
        capture_directly(instance)

    def load(self, module: str) -> None:
        """Load a code location in advance, by its name in a workspace. Raises the errors of the module."""
        for target in loadable_targets_from_python_module(module, str(Path.cwd())):
            self._repository(CodePointer.from_module(module, target.attribute, str(Path.cwd())))

    def run(self, run_id: str) -> bool:
        """Execute a run to its end.

        Returns whether Dagster knows that it has ended. Never raises, as other runs follow.
        """
        try:
            run = self._run(run_id)
            if run.status in NOT_BEGUN:
                self._execute(run)
            elif run.status is not DagsterRunStatus.CANCELING:
                return True  # it has ended, or a worker of another machine has begun it
            return self._close(run_id)
        except (Exception, KeyboardInterrupt):  # noqa: BLE001 - whatever it is, the host closes the run
            traceback.print_exc()
            return False

    def _execute(self, run: DagsterRun) -> None:
        pid = os.getpid()
        told = EngineEventData.in_process(pid)
        self._instance.report_engine_event(f"Running on the warm worker of process {pid} on {self._host}.", run, told)
        try:
            with restore_process_afterwards():
                for _ in execute_run_iterator(self._job(run), run, self._instance):
                    pass
        except (Exception, DagsterExecutionInterruptedError):  # noqa: BLE001 - the run's page shows it
            error = serializable_error_info_from_exc_info(sys.exc_info())
            self._instance.report_engine_event("The run could not continue.", run, EngineEventData.engine_error(error))

    def _close(self, run_id: str) -> bool:
        """Close a run without an end of its own: as canceled if that was requested, else as failed."""
        run = self._run(run_id)
        if run.status is DagsterRunStatus.CANCELING:
            self._instance.report_run_canceled(run)
        elif not run.is_finished:
            self._instance.report_run_failed(run)
        return True

    def _run(self, run_id: str) -> DagsterRun:
        run = self._instance.get_run_by_id(run_id)
        if run is None:
            raise LookupError(f"Dagster does not know run {run_id}")
        return run

    def _job(self, run: DagsterRun) -> IJob:
        """The run's job from the loaded definitions. Executors that start processes load it again there."""
        origin = run.job_code_origin
        if origin is None:
            raise LookupError(f"run {run.run_id} does not say where its code is")
        job = self._repository(origin.repository_origin.code_pointer).get_job(origin.job_name)
        is_here = job.executor_def.name == _IN_PROCESS
        return InMemoryJob(job) if is_here else recon_job_from_origin(origin)

    def _repository(self, pointer: CodePointer) -> RepositoryDefinition:
        key = (pointer.module, pointer.fn_name) if isinstance(pointer, ModuleCodePointer) else pointer
        if key not in self._loaded:
            self._loaded[key] = reconstruct_repository_def_from_pointer(pointer)
        return self._loaded[key]


@contextmanager
def restore_process_afterwards() -> Iterator[None]:
    """Restore environment, folder, umask, decimal context and temporary folder after the block, however it ends."""
    environment, folder, mask = dict(os.environ), Path.cwd(), os.umask(0o077)
    os.umask(mask)
    decimals, temporary = decimal.getcontext().copy(), tempfile.tempdir
    try:
        yield
    finally:
        decimal.setcontext(decimals)
        tempfile.tempdir = temporary
        os.umask(mask)
        os.chdir(folder)
        _restore(environment)


def _restore(environment: dict[str, str]) -> None:
    for name in os.environ.keys() - environment.keys():
        del os.environ[name]
    for name, value in environment.items():
        if os.environ.get(name) != value:
            os.environ[name] = value
