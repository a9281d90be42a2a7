"""`tidemark center` on the code location of this figure, without its HTTP interface.

    python -m benchmarks.launch.center_process WORKSPACE RETRY ACROSS

Failed slices are tried again after RETRY seconds, for ever; where it is 0, as the center does by itself. While there is
no room a run holds up to ACROSS entities.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import dagster as dg

from benchmarks.launch.location import declared_warehouse
from tidemark.center.code_location import CodeLocation
from tidemark.center.dispatch import TOGETHER
from tidemark.center.launch_policy import LaunchPolicy
from tidemark.center.service import Service
from tidemark.console.dagster_server.dagster_warnings import hide_notices
from tidemark.console.stop_signals import stop_signals
from tidemark.warm_runs.host_supervisor import WorkerHostSupervisor


def main(workspace: Path, retry_seconds: float, across: int) -> None:
    """Serve until SIGTERM."""
    hide_notices()
    home = Path(os.environ["DAGSTER_HOME"])
    with stop_signals() as signals, dg.DagsterInstance.from_config(str(home)) as instance:
        policy = LaunchPolicy(together=TOGETHER, across=across)
        if retry_seconds:
            policy = replace(policy, attempts=1_000, wait=timedelta(seconds=retry_seconds))
        service = Service(declared_warehouse(), instance, CodeLocation.of_workspace(workspace), _tell, policy)
        with WorkerHostSupervisor(home, home / "workers.log", os.environ) as workers:
            service.serve(lambda: bool(signals), watch=workers.check)


def _tell(event: str, **values: object) -> None:
    sys.stdout.write(json.dumps({"event": event, **values}) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]))
