"""All figures at their smallest scale, each in a process of its own: `python -m benchmarks all --quick`."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LONGEST_SECONDS: Final = 900.0
"""A guard against hanging: a figure that is not done by then has failed."""
_LAST_LINES: Final = 20
_SMALL_TABLE: Final = ("--day-rows", "200", "--batch", "40", "--repeat", "1", "--warm", "0")
QUICK: Final[Mapping[str, Sequence[str]]] = {
    "asof": ("--transitions", "27000"),
    "audit": ("--rows", "40000", "--planted", "40", "--rate", "50", "--share", "0.5", "--alone", "1"),
    "baseline": ("--scale", "0.005", "--events", "20", "--days", "1", "--overloads", "1", "--seed", "5"),
    "capture": ("--parts", "distribution", "--messages", "200000", "--members", "1"),
    "catalog": ("--scale", "0.001"),
    "cluster": ("--scale", "0.01", "--rounds", "1", "--files", "8"),
    "completeness": ("--tables", "3", "--days", "2", "--plants", "40"),
    "console": ("--scale", "0.005"),
    "crawl": ("--waiters", "500", "--tables", "25"),
    "flood": ("--rounds", "1", "--reports", "10"),
    "graph": ("--scale", "0.01"),
    "growth": ("--entities", "5", "--days", "60", "--history-days", "10", "--keep-snapshots", "10"),
    "impact": ("--scale", "0.01", "--hours", "5", "--backfills", "10"),
    "inference": ("--scale", "0.02"),
    "launch": ("--rate", "120", "--minutes", "0.05", "--burst", "6", "--workers", "1", "--alone"),
    "merge": (*_SMALL_TABLE, "--rows", "400", "--large", "800"),
    "old_runs": ("--runs", "100", "--stores", "sqlite"),
    "overhead": ("--rounds", "1", "--warm", "0", "--until", "2026-03-23", "--entities", "dws_ad_spend_1d"),
    "plan": ("--scale", "0.11", "--days", "3", "--edits", "10"),
    "profile": ("--seed", "3", "--worlds", "1", "--days", "20", "--every", "19", "--rows", "0"),
    "quality": ("--rows", "20000", "--repeat", "1", "--warm", "0"),
    "query": ("--scale", "0.001", "--files", "8", "--rounds", "1"),
    "readiness": ("--scale", "0.01"),
    "refresh": ("--events", "20", "--days", "2", "--keys", "100"),
    "repair": (*_SMALL_TABLE, "--rows", "800", "--later", "2"),
    "replicate": (
        *("--files", "10", "--rows", "2000", "--rounds", "1", "--publishes", "20", "--kills", "1", "--plants", "40"),
    ),
    "scaleout": ("--commits", "5", "--rounds", "1", "--slices", "2"),
    "sessions": ("--rounds", "1"),
}
"""The options that make a figure small; all others are its own."""


def measure_all(names: Sequence[str], *, quick: bool) -> dict[str, dict[str, Any]]:
    """Of each figure whether it could be measured, in how many seconds, and what came out, or its last lines."""
    return {name: _measured(name, QUICK[name] if quick else ()) for name in names}


def _measured(name: str, options: Sequence[str]) -> dict[str, Any]:
    begun = time.monotonic()
    command = [sys.executable, "-m", "benchmarks", name, "--json", *options]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST_SECONDS, check=False)
        code, said, complaint = done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired:
        code, said, complaint = -1, "", f"not done after {LONGEST_SECONDS:.0f} s"
    seconds = round(time.monotonic() - begun, 1)
    if code:
        lines = complaint.splitlines()[-_LAST_LINES:]
        return {"ok": False, "seconds": seconds, "code": code, "last_lines": lines}
    return {"ok": True, "seconds": seconds, "figures": json.loads(said.splitlines()[-1])}
