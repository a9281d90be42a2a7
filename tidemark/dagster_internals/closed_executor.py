"""Dagster's in-process executor, for runs that only configure ops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import dagster as dg
from dagster._core.execution.retries import RetryMode
from dagster._core.executor.in_process import InProcessExecutor

from tidemark.system.run_config import check_run_config

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dagster import DagsterEvent
    from dagster._core.execution.context.system import PlanOrchestrationContext
    from dagster._core.execution.plan.plan import ExecutionPlan

IN_PROCESS: Final = "in_process"


class _ClosedExecutor(InProcessExecutor):
    def execute(self, plan_context: PlanOrchestrationContext, execution_plan: ExecutionPlan) -> Iterator[DagsterEvent]:
        """Check the configuration before any resource of the run is created. Raises RunConfigRefusedError."""
        check_run_config(dict(plan_context.run_config))
        yield from super().execute(plan_context, execution_plan)


@dg.executor(name=IN_PROCESS, config_schema=dg.Field({}, is_required=False))
def closed_executor(_: Any) -> _ClosedExecutor:
    """Runs all steps in one process. Pages and launchers refuse first; this check is in the run itself."""
    return _ClosedExecutor(RetryMode.ENABLED)
