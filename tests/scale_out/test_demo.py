"""The demo's first day with its lake in an S3 server and Spark on two workers: whole, and with each part killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.components.s3_proxy import Moment
from tests.project import CHECKOUT
from tests.scale_out.laboratory import Laboratory, Victim, laboratory

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.components, pytest.mark.long, pytest.mark.timeout(2_400)]

KILLS: Final[tuple[tuple[Victim, Moment], ...]] = (
    ("worker", Moment("data", 4, "before")),
    ("store", Moment("commit", 3, "after")),
    ("driver", Moment("commit", 12, "after")),
    ("store", Moment("data", 5, "before")),
    ("worker", Moment("commit", 4, "after")),
)
"""Each counted from the one before; of slices as well as of capture."""
_REFUSED: Final = 3
_SECONDS: Final = 1_800.0


class Demo:
    """The command, and who is killed while it runs."""

    def __init__(self, lab: Laboratory, kills: Iterator[tuple[Victim, Moment]]) -> None:
        self._lab, self._kills, self.killed = lab, kills, list[Victim]()
        self._process: subprocess.Popen[str] | None = None
        self._await_next()

    def run(self) -> tuple[int, str]:
        """Its exit code and what it told."""
        own = {"TIDEMARK_ROOT": str(CHECKOUT)}
        command = [sys.executable, "-m", "tidemark.console", "demo", "--json", "--until", "2026-03-23"]
        log = self._lab.folder / "demo.log"
        with log.open("a") as errors:
            self._process = subprocess.Popen(
                command,
                env={**os.environ, **self._lab.environment, **own},
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        told, _ = self._process.communicate(timeout=_SECONDS)
        return self._process.returncode, told

    def _await_next(self) -> None:
        victim, moment = next(self._kills, (None, None))
        if victim and moment:
            self._lab.proxy.wait_for(moment, lambda: self._kill(victim))

    def _kill(self, victim: Victim) -> bool:
        self.killed.append(victim)
        if victim == "worker":
            self._lab.kill_worker(len(self.killed) % 2)
        elif victim == "store":
            self._lab.kill_store(_REFUSED)
        else:
            assert self._process is not None
            self._process.kill()
        self._await_next()
        return victim == "store"


def _require_equal(told: str) -> None:
    result: dict[str, Any] = json.loads(told)
    assert result["snapshots_checked"] == result["snapshots_equal"] == 5
    assert result["metrics_checked"] == result["metrics_equal"] > 100
    assert (result["differences"], result["slices_failed"]) == ([], [])


def test_the_first_day_is_equal(tmp_path: Path) -> None:
    with laboratory(tmp_path) as lab:
        code, told = Demo(lab, iter(())).run()
        assert code == 0, told
    _require_equal(told)


def test_it_is_equal_when_each_part_was_killed(tmp_path: Path) -> None:
    with laboratory(tmp_path) as lab:
        demo = Demo(lab, iter(KILLS))
        code, told = demo.run()
        assert demo.killed == ["worker", "store", "driver"]
        assert code == -9, told
        code, told = demo.run()
        lab.bring_back()
        assert demo.killed == [victim for victim, _ in KILLS]
        assert code == 0, told
    _require_equal(told)
