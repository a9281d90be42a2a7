"""The driver of the injections: one process that captures, computes, repairs and vacuums as it is told, line by line.

It does what the commands do, `capture run --once`, a center's run, `delta repair` and `delta vacuum`, but stays: the
start of Spark is paid once a life. An order is a line of JSON, and so is what is told of it.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

import dagster as dg

from tidemark.center.in_process_host import InProcessHost
from tidemark.center.launchers.in_process_runs import StepProgress
from tidemark.compute.repair import RepairRequest, carry_out, plan
from tidemark.compute.runtime import Runtime
from tidemark.compute.vacuum import vacuum_entity
from tidemark.console.dagster_server.dagster_home import dagster_home, prepare_home
from tidemark.dagster.definitions import build_definitions
from tidemark.dagster.jobs.repair import tell_repair
from tidemark.delta.retention import Retention
from tidemark.system.crash_points import ENV_NAME
from tidemark.system.settings import Settings
from tidemark.warehouse.warehouse import load_warehouse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.dependency_model.slice import Slice

TABLES: Final = ("ods_orders", "dws_totals_1d", "dws_growth_1d")
RETENTION: Final = Retention(versions=3, age=timedelta(0))


class _Watched:
    """Which slices were run, and which of these runs failed."""

    def __init__(self) -> None:
        self.launched: list[str] = []
        self.failed: list[str] = []

    def run_started(self, slices: Sequence[Slice]) -> None:
        self.launched += map(str, slices)

    def step(self, progress: StepProgress, slices: Sequence[Slice]) -> None:
        self.failed += map(str, slices if progress is StepProgress.FAILED else ())


class Driver:
    """The work of one process."""

    def __init__(self, instance: dg.DagsterInstance, settings: Settings) -> None:
        self._instance = instance
        self._runtime = Runtime(load_warehouse(settings))
        self._job = build_definitions(self._runtime.warehouse).resolve_implicit_global_asset_job_def()

    def hello(self, _: dict[str, Any]) -> dict[str, Any]:
        """Start Spark."""
        return {"spark": self._runtime.spark.version}

    def capture(self, _: dict[str, Any]) -> dict[str, Any]:
        """Take in what has landed."""
        report = self._runtime.ingestion.step()
        return {"commits": report.commits, "warnings": list(report.warnings)}

    def slices(self, _: dict[str, Any]) -> dict[str, Any]:
        """Run what is ready, as a center that starts does: also what failed before."""
        watched = _Watched()
        host = InProcessHost(self._runtime.warehouse, self._job, self._instance, "scale_out")
        host.run_ready(host.dispatch(watched))
        failed = [str(slice_) for slice_ in host.center.failed_slices()]
        return {"launched": watched.launched, "steps_failed": watched.failed, "failed": failed}

    def repair(self, order: dict[str, Any]) -> dict[str, Any]:
        """Repair one partition, and let the center know."""
        request = RepairRequest(order["entity"], order["slice"], order["from_version"], None, order["recompute"])
        planned = plan(self._runtime, request, datetime.now(UTC))
        report, written = carry_out(self._runtime, planned)
        tell_repair(self._instance, self._runtime, planned, written)
        return {"way": planned.plan.way, "version": report.version}

    def vacuum(self, _: dict[str, Any]) -> dict[str, Any]:
        """Delete what no version needs, of all tables."""
        plans = [vacuum_entity(self._runtime.warehouse, self._runtime.registry, name, RETENTION) for name in TABLES]
        return {"deleted": sum(len(done.needless) for done in plans)}


def main() -> None:
    """Carry out orders from the standard input until it ends; what libraries print goes to the standard error."""
    told = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    settings = Settings.load()
    home = dagster_home(settings, os.environ)
    prepare_home(settings, home)
    with dg.DagsterInstance.from_config(str(home)) as instance:
        driver = Driver(instance, settings)
        for line in sys.stdin:
            order = json.loads(line)
            os.environ[ENV_NAME] = order.get("die_at", "")
            try:
                answer = getattr(driver, order["what"])(order)
            except Exception as error:  # noqa: BLE001 - told to who gave the order
                traceback.print_exc()
                answer = {"error": f"{type(error).__name__}: {error}"[:500]}
            told.write(json.dumps(answer) + "\n")


if __name__ == "__main__":
    main()
