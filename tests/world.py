"""`tidemark` as a person starts it: as a process, on data of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

FIRST_DAY = "first day"
"""The group of the tests that share one replay of the recording's first day."""
UNTIL_FIRST_DAY = ("--until", "2026-03-23")
WHOLE = "whole recording"
"""The group of the tests that share one replay of all nine days; they are long."""


@dataclass(frozen=True)
class World:
    """One data folder and one Dagster home that nobody else uses."""

    data: Path
    dagster_home: Path

    @classmethod
    def at(cls, folder: Path) -> World:
        return cls(folder / "data", folder / "dagster_home")

    @property
    def environment(self) -> Mapping[str, str]:
        return {**os.environ, "TIDEMARK_DATA": str(self.data), "DAGSTER_HOME": str(self.dagster_home)}


@dataclass(frozen=True)
class DemoWorld:
    """A recording, replayed by a command that was killed at a named point, and by the one after it.

    `killed` is how the first one ended; `result` is what the second said by `--json`.
    """

    world: World
    killed: subprocess.CompletedProcess[str]
    result: Mapping[str, Any]

    @classmethod
    def killed_once(cls, folder: Path, *arguments: str, timeout_seconds: float) -> DemoWorld:
        """Killed with a partition replaced that nobody has heard of yet, and started again.

        At the other points it is killed in `tests/end_to_end/test_kill.py`, which is long.
        """
        world, point = World.at(folder), {"TIDEMARK_CRASH_AT": "delta.after_replace:4"}
        killed = start_tidemark(world, "demo", "--json", *arguments, timeout_seconds=timeout_seconds, env=point)
        return cls(world, killed, run_demo(world, *arguments, timeout_seconds=timeout_seconds))


def start_tidemark(
    world: World, *arguments: str, timeout_seconds: float, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, whatever it is."""
    return subprocess.run(
        [sys.executable, "-m", "tidemark.console", *arguments],
        env={**world.environment, **(env or {})},
        capture_output=True,
        text=True,
        timeout=timeout_seconds,
        check=False,
    )


def run_tidemark(world: World, *arguments: str, timeout_seconds: float) -> str:
    """Run a command to its successful end; returns its standard output."""
    done = start_tidemark(world, *arguments, timeout_seconds=timeout_seconds)
    assert done.returncode == 0, f"tidemark {' '.join(arguments)}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def run_demo(world: World, *arguments: str, timeout_seconds: float) -> Mapping[str, Any]:
    """`tidemark demo --json`; everything has to be equal to the database's answers."""
    result: Mapping[str, Any] = json.loads(
        run_tidemark(world, "demo", "--json", *arguments, timeout_seconds=timeout_seconds)
    )
    return result
