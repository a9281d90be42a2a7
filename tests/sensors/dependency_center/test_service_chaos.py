"""Centers, pools and workers are killed at random moments: every slice ends, and none is computed twice at once."""

from __future__ import annotations

import os
import random
import signal
import time
from contextlib import suppress
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import dagster as dg
import psutil
import pytest

from benchmarks.launch import slices_of
from tests.resources.warm_runs.warm_home import until
from tests.sensors.dependency_center.test_service import Served

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Sequence
    from pathlib import Path

pytestmark = [pytest.mark.components, pytest.mark.xdist_group("warm_runs")]

_SLICES: Final = 50
_PAIRS: Final = 10
_VICTIMS: Final = ("center", "host", "worker")
_END: Final = ("SUCCESS", "FAILURE", "CANCELED")


class Chaos:
    """One world whose processes are killed, trial by trial; each trial is some slices and one death."""

    def __init__(self, world: Served, seed: int) -> None:
        self._world, self._chance = world, random.Random(seed)
        self._process: subprocess.Popen[bytes] = world.start_center()
        self._told: list[tuple[int, str]] = []
        self.kills = 0

    def trial(self, number: int) -> None:
        """Slices arrive, and somewhere among them somebody dies."""
        count = _SLICES // _PAIRS if self._chance.random() < 0.5 else _PAIRS
        fatal = self._chance.randrange(count)
        day = f"2026-03-{1 + number % 28:02}" if number < 28 else f"2026-0{4 + number // 28}-{1 + number % 28:02}"
        for one in range(count):
            self._world.arrive(one, day)
            self._told.append((one, day))
            time.sleep(self._chance.random() * 0.2)
            if one == fatal:
                self.kill(self._chance.choice(_VICTIMS))
        until(self._is_quiet, f"the end of trial {number}", 240)

    def kill(self, victim: str) -> None:
        """`kill -9`; a center that died is started again."""
        center = psutil.Process(self._process.pid)
        family = [one for one in center.children(recursive=True) if one.is_running()]
        chosen = [one for one in family if f"warm_runs.{victim}" in " ".join(_words(one))]
        pid = center.pid if victim == "center" else chosen[0].pid if chosen else None
        if pid is None:
            return
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
            self.kills += 1
        if victim == "center":
            self._process.wait()
            _, alive = psutil.wait_procs(family, 20)
            assert alive == [], "a process outlived its owner"
            self._process = self._world.start_center()

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(30)

    def _is_quiet(self) -> bool:
        """Everything that was told is computed."""
        return all(self._world.is_there(*one) for one in self._told)


def _words(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def trials(folder: Path, seed: int, count: int) -> int:
    """How many were killed; in the end every run has ended, and no slice was computed by two that overlap."""
    world = Served(folder, workers=2, retry_seconds=1.0)
    world.write(_PAIRS)
    chaos = Chaos(world, seed)
    try:
        until(lambda: '"active"' in world.log(), "an active center")
        for number in range(count):
            chaos.trial(number)
        with dg.DagsterInstance.from_config(str(world.home)) as instance:
            until(lambda: all(run.status.value in _END for run in instance.get_runs()), "the end of all runs")
            assert overlapping(instance.get_run_records()) == []
    finally:
        chaos.stop()
    return chaos.kills


def overlapping(records: Sequence[dg.RunRecord]) -> list[str]:
    """Slices that two runs had at the same time, or that succeeded twice."""
    spans: dict[tuple[str, str], list[tuple[float, float, bool]]] = {}
    for record in records:
        is_success = record.dagster_run.status is dg.DagsterRunStatus.SUCCESS
        for piece in slices_of(record):
            spans.setdefault(piece, []).append((record.start_time or 0.0, record.end_time or 0.0, is_success))
    found = []
    for piece, times in spans.items():
        ordered = sorted(one for one in times if one[0])
        found += [f"{piece} at once" for one, other in pairwise(ordered) if other[0] < one[1]]
        found += [f"{piece} twice"] if sum(is_success for *_, is_success in times) > 1 else []
    return found


@pytest.mark.timeout(900)
def test_a_few_deaths(tmp_path: Path) -> None:
    assert trials(tmp_path, 7, 2) >= 1


@pytest.mark.long
@pytest.mark.timeout(14_400)
def test_a_hundred_deaths(tmp_path: Path) -> None:
    assert trials(tmp_path, 11, 100) >= 80
