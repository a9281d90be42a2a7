"""Publishes by a process that is killed again and again, and looked at by a reader all the time."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import defaultdict
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final
from unittest.mock import patch

from tests.replication.lakes import TwoLakes
from tidemark.compute.table_version_tags import claims_of_tags
from tidemark.delta.delta_rs_table import current_version, read_rows
from tidemark.delta.retention import Retention
from tidemark.delta.vacuum import vacuum
from tidemark.dependency_model.slice import Slice
from tidemark.state_store.snapshot_registry import SnapshotRegistry
from tidemark.storage.local_files import LocalFiles
from tidemark.system.crash_points import ENV_NAME, crash_point

if TYPE_CHECKING:
    from pathlib import Path

_DAYS: Final = tuple(f"2026-03-{day}" for day in range(23, 29))
_ROWS: Final = 60
_POINTS: Final = (
    *("replicate.copying", "replicate.copied", "replicate.before_publish", "replicate.published"),
    "vacuum.before_delete",
)
_COPIER: Final = """
import sys
from pathlib import Path
from benchmarks.replicate.publishes import copy_until
copy_until(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
"""
_FAILS: Final = 0.05
_VACUUM_EVERY: Final = 20
_TIMES, _FAILURES = "visible.jsonl", "failures"


def measure_publishes(folder: Path, publishes: int, kills: int, seed: int) -> dict[str, Any]:
    chance, lakes = random.Random(seed), TwoLakes.at(folder / "publishes")
    lakes.store.close()
    reader = _Reader(lakes.replica)
    reader.start()
    killed = 0
    while (current_version(lakes.replica) or 0) < publishes - 1:
        # Some passes of a point each time, so that all of them are reached and the publishes end.
        crash = f"{chance.choice(_POINTS)}:{chance.randint(1, max(2, 3 * publishes // max(kills, 1)))}"
        environment = {**os.environ, **({ENV_NAME: crash} if killed < kills else {})}
        command = [sys.executable, "-c", _COPIER, str(lakes.root), str(publishes), str(chance.random())]
        ended = subprocess.run(command, env=environment, check=False)
        if ended.returncode not in {0, -signal.SIGKILL}:
            raise RuntimeError(f"the copier ended with {ended.returncode}")
        killed += ended.returncode != 0
    reader.stop()
    last = current_version(lakes.replica) or 0
    torn = reader.torn + sum(_is_torn(lakes.replica, version) for version in range(last + 1))
    times = sorted(json.loads(line) for line in (lakes.root / _TIMES).read_text().splitlines())
    failures = lakes.root / _FAILURES
    return {
        "visible_after_copy_ms_p90": round(times[len(times) * 9 // 10], 1),
        "publishes": last + 1,
        "kills": killed,
        "failures": len(failures.read_text()) if failures.exists() else 0,
        "polls": reader.polls,
        "torn_reads": torn,
    }


class _Reader(threading.Thread):
    """Looks at the newest version all the time."""

    def __init__(self, table: Path) -> None:
        super().__init__(daemon=True)
        self._table, self._ended = table, threading.Event()
        self.polls = self.torn = 0

    def run(self) -> None:
        while not self._ended.wait(0.005):
            if current_version(self._table) is not None:
                self.polls += 1
                self.torn += _is_torn(self._table, None)

    def stop(self) -> None:
        self._ended.set()
        self.join()


def _is_torn(table: Path, version: int | None) -> bool:
    """Every day has all of its rows, all of one generation."""
    days: dict[str, list[int]] = defaultdict(list)
    for row in read_rows(table, version).to_pylist():
        days[row["dt"]].append(row["generation"])
    return any(len(values) != _ROWS or len(set(values)) != 1 for values in days.values())


def copy_until(root: Path, publishes: int, seed: str) -> None:
    """Write a day, complete it and replicate it, until the replica has so many versions."""
    lakes, chance = TwoLakes.opened(root), random.Random(seed)
    lakes.now += timedelta(days=chance.randrange(1, 10_000))
    for day in _DAYS:
        current = lakes.store.read.current(Slice("sales", day))
        lakes.generations[day] = current.status.generation if current else 0
    registry = SnapshotRegistry(lakes.store.database)
    with (
        patch("tidemark.replication.slice_replication.crash_point", _Stopwatch(root / _TIMES)),
        patch.object(LocalFiles, "put", _failing(lakes.replica, root / _FAILURES, chance)),
    ):
        lakes.replicate()
        while (version := current_version(lakes.replica) or 0) < publishes - 1:
            day = chance.choice(_DAYS)
            generation = lakes.generations[day] + 1
            lakes.complete(day, lakes.write(day, {"generation": [generation] * _ROWS}, files=3))
            lakes.replicate()
            if version % _VACUUM_EVERY == 0:
                claims = claims_of_tags(lakes.warehouse, registry, "sales")
                vacuum(lakes.source, Retention(1, timedelta(0)), claims, lakes.store.database)


class _Stopwatch:
    """From the last file being there until the commit is."""

    def __init__(self, file: Path) -> None:
        self._file, self._copied = file, 0.0

    def __call__(self, name: str) -> None:
        if name == "replicate.copied":
            self._copied = time.perf_counter()
        if name == "replicate.published":
            with self._file.open("a") as file:
                file.write(f"{(time.perf_counter() - self._copied) * 1000}\n")
        crash_point(name)


def _failing(replica: Path, failures: Path, chance: random.Random) -> Any:
    put = LocalFiles.put

    def fail(store: LocalFiles, name: str, content: bytes) -> None:
        if store._root == replica and chance.random() < _FAILS:  # noqa: SLF001 - the target alone fails
            with failures.open("a") as file:
                file.write("x")
            raise OSError(28, "No space left on device")
        put(store, name, content)

    return fail
