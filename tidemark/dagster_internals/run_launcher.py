"""The parts of a run launcher: Dagster's extension point, which dagster-docker and dagster-k8s use too."""

from dagster._core.launcher.base import CheckRunHealthResult, LaunchRunContext, RunLauncher, WorkerStatus
from dagster._core.run_coordinator.base import SubmitRunContext
from dagster._core.run_coordinator.queued_run_coordinator import RunQueueConfig
from dagster._core.storage.tags import GRPC_INFO_TAG
from dagster._serdes import ConfigurableClass, ConfigurableClassData

__all__ = [
    "GRPC_INFO_TAG",
    "CheckRunHealthResult",
    "ConfigurableClass",
    "ConfigurableClassData",
    "LaunchRunContext",
    "RunLauncher",
    "RunQueueConfig",
    "SubmitRunContext",
    "WorkerStatus",
]
