"""Arguments of Dagster's processes that we start: the workspace and the address."""

from __future__ import annotations

import argparse
from pathlib import Path


def server_arguments(description: str | None) -> argparse.Namespace:
    """`workspace`, `host`, `port` and `allowed_hosts` from the command line of this process."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--workspace", type=Path, required=True)
    parser.add_argument("--host", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--allowed-host", dest="allowed_hosts", action="append", default=[])
    return parser.parse_args()
