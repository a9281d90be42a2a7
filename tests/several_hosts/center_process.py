"""`tidemark center --no-workers` without its HTTP interface, for a test: what failed is tried again after a second.

python -m tests.several_hosts.center_process
"""

from __future__ import annotations

import json
import os
import sys
from datetime import timedelta

import dagster as dg

from tidemark.center.code_location import CodeLocation
from tidemark.center.launch_policy import LaunchPolicy
from tidemark.center.service import Service
from tidemark.console.dagster_server.dagster_warnings import hide_notices
from tidemark.console.stop_signals import stop_signals
from tidemark.system.settings import Settings
from tidemark.warehouse.warehouse import load_warehouse


def main() -> None:
    """Serve until SIGTERM."""
    hide_notices()
    settings = Settings.load(os.environ)
    location = CodeLocation.of_workspace(settings.root / "workspace.yaml")
    policy = LaunchPolicy(attempts=10, wait=timedelta(seconds=1), together=1)
    with stop_signals() as signals, dg.DagsterInstance.from_config(os.environ["DAGSTER_HOME"]) as instance:
        Service(load_warehouse(settings), instance, location, _tell, policy).serve(lambda: bool(signals))


def _tell(event: str, **values: object) -> None:
    sys.stdout.write(json.dumps({"event": event, **values}) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
