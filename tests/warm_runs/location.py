"""A code location for warm workers: what ends, what lasts, what dies."""

import os
import signal
import sys
import time
from pathlib import Path

import dagster as dg


@dg.asset
def quick(context: dg.AssetExecutionContext) -> None:
    print("on standard output")
    print("on standard error", file=sys.stderr)
    context.log.info("in the log")


@dg.asset
def lasting() -> None:
    """Until the file `go` is in the Dagster home; stubborn about nothing."""
    while not (Path(os.environ["DAGSTER_HOME"]) / "go").exists():
        time.sleep(0.02)


@dg.asset
def dying() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@dg.asset
def failing() -> None:
    raise RuntimeError("the cluster is on fire")


defs = dg.Definitions(assets=[quick, lasting, dying, failing], executor=dg.in_process_executor)
