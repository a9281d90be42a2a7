"""Creating runs and executing them in this process, with the signals and errors of a step."""

from dagster._core.definitions.job_base import IJob, InMemoryJob
from dagster._core.errors import DagsterExecutionInterruptedError, DagsterRunAlreadyExists
from dagster._core.events import DagsterEvent, DagsterEventType, EngineEventData
from dagster._core.execution.api import create_execution_plan, execute_run_iterator
from dagster._core.snap import snapshot_from_execution_plan
from dagster._utils.error import serializable_error_info_from_exc_info
from dagster._utils.interrupts import capture_interrupts, pop_captured_interrupt

__all__ = [
    "DagsterExecutionInterruptedError",
    "DagsterRunAlreadyExists",
    "EngineEventData",
    "IJob",
    "InMemoryJob",
    "capture_interrupts",
    "create_execution_plan",
    "execute_run_iterator",
    "pop_captured_interrupt",
    "serializable_error_info_from_exc_info",
    "snapshot_from_execution_plan",
    "starting_event",
]


def starting_event(job_name: str, message: str) -> DagsterEvent:
    """The event that a run is starting, which sets its status to STARTING."""
    return DagsterEvent(event_type_value=DagsterEventType.RUN_STARTING.value, job_name=job_name, message=message)
