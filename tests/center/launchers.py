"""Launchers for tests: one in memory, one in a file that outlives the process."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from tidemark.center.dispatch import DagsterRunState
from tidemark.center.errors import LaunchError
from tidemark.dependency_model.slice import Slice

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


class MemoryLauncher:
    """Remembers runs; refuses them while `is_down`."""

    def __init__(self) -> None:
        self.runs: dict[str, tuple[list[str], str]] = {}
        self.backfills: dict[str, int | None] = {}
        self.is_down = False

    def launch(self, run_id: str, slices: Sequence[Slice], pool: str, backfill: int | None = None) -> None:
        if self.is_down:
            raise LaunchError("no answer")
        self.runs.setdefault(run_id, ([str(slice_) for slice_ in slices], pool))
        self.backfills[run_id] = backfill

    def state(self, run_id: str) -> DagsterRunState:
        return DagsterRunState.UNDER_WAY if run_id in self.runs else DagsterRunState.UNKNOWN

    @property
    def groups(self) -> list[list[str]]:
        return [slices for slices, _ in self.runs.values()]


class FileLauncher:
    """A run is a line of a file, and so is its end: what a real executor would know after this process died."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def launch(self, run_id: str, slices: Sequence[Slice], pool: str, backfill: int | None = None) -> None:
        if self.state(run_id) is DagsterRunState.UNKNOWN:
            self._append(
                {"run": run_id, "pool": pool, "backfill": backfill, "slices": [str(slice_) for slice_ in slices]}
            )

    def state(self, run_id: str) -> DagsterRunState:
        lines = [line for line in self.lines() if line["run"] == run_id]
        return (
            DagsterRunState.UNKNOWN
            if not lines
            else DagsterRunState.ENDED
            if len(lines) > 1
            else DagsterRunState.UNDER_WAY
        )

    def finish(self, run_id: str) -> None:
        """The run does its work, once."""
        if self.state(run_id) is DagsterRunState.UNDER_WAY:
            self._append({"run": run_id, "ended": True})

    def lines(self) -> list[dict[str, object]]:
        text = self._file.read_text() if self._file.exists() else ""
        return [json.loads(line) for line in text.splitlines()]

    def runs(self) -> dict[str, list[Slice]]:
        """The slices of every run that was ever launched."""
        runs = {}
        for line in self.lines():
            slices = line.get("slices")
            if isinstance(slices, list):
                runs[str(line["run"])] = [Slice.parse(slice_) for slice_ in slices]
        return runs

    def _append(self, line: dict[str, object]) -> None:
        handle = os.open(self._file, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(handle, (json.dumps(line) + "\n").encode())
        os.close(handle)
