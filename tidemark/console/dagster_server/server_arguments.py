"""The arguments of Dagster's processes that we start ourselves: the workspace, and where to listen."""

from __future__ import annotations

import argparse
from pathlib import Path


def server_arguments(description: str | None) -> argparse.Namespace:
    """`workspace`, `host`, `port` and `allowed_hosts` from this process's command line."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--workspace", type=Path, required=True)
    parser.add_argument("--host", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--allowed-host", dest="allowed_hosts", action="append", default=[])
    return parser.parse_args()
