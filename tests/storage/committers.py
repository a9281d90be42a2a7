"""A process of Spark and one of delta-rs that commit to one table of a server at the same time."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
from deltalake import write_deltalake

from tests.project import CHECKOUT
from tidemark.delta.delta_rs_table import current_version, read_rows
from tidemark.delta.internals.log_files import LogFiles
from tidemark.delta.open_table import delta_rs_options, open_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.system.table_location import TableLocation


@dataclass(frozen=True)
class Committed:
    """How often each row, a (who, number), was acknowledged, and how often it is in the table.

    `overtaken` are the commits of Spark that came behind one that they had not read.
    """

    acknowledged: Counter[tuple[str, int]]
    there: Counter[tuple[str, int]]
    versions: int
    is_log_whole: bool
    overtaken: int

    @property
    def lost(self) -> int:
        """Rows that were acknowledged and are not there."""
        return sum((self.acknowledged - self.there).values())

    @property
    def doubled(self) -> int:
        """Rows that are there more often than once."""
        return sum(count - 1 for count in self.there.values())


def commit_at_once(table: TableLocation, kinds: Sequence[str], count: int, environment: dict[str, str]) -> Committed:
    """A process for each of `kinds` (`spark`, `delta-rs`) makes `count` commits, the nth ones at the same time."""
    empty = pa.schema({"who": pa.string(), "n": pa.int64()}).empty_table()
    write_deltalake(str(table), empty, storage_options=delta_rs_options(table))
    with ExitStack() as stack:
        running = {
            f"{kind}-{number}": stack.enter_context(start_committer(kind, table, f"{kind}-{number}", environment))
            for number, kind in enumerate(kinds)
        }
        for process in running.values():
            assert answer_of(process) == "ready"
        acknowledged = _rounds(running, count)
        for process in running.values():
            process.communicate()
        assert [process.returncode for process in running.values()] == [0] * len(running)
    rows = read_rows(table)
    there = Counter(zip(rows["who"].to_pylist(), rows["n"].to_pylist(), strict=True))
    is_whole = LogFiles.of(table).start() is None
    return Committed(acknowledged, there, current_version(table) or 0, is_whole, _overtaken(table))


def _rounds(running: dict[str, subprocess.Popen[str]], count: int) -> Counter[tuple[str, int]]:
    """Whoever is faster waits up to as long as the last round took, so that its commit may fall into any moment."""
    chance, took = random.Random(3), 0.0
    acknowledged: Counter[tuple[str, int]] = Counter()
    for number in range(count):
        begun = time.monotonic()
        for who, process in running.items():
            assert process.stdin is not None
            wait = chance.uniform(0, took) if who.startswith("delta-rs") else 0.0
            process.stdin.write(f"{number} {wait}\n")
            process.stdin.flush()
        acknowledged.update((who, int(answer_of(process))) for who, process in running.items())
        took = time.monotonic() - begun
    return acknowledged


def answer_of(process: subprocess.Popen[str]) -> str:
    """The next line that it writes."""
    assert process.stdout is not None
    return process.stdout.readline().strip()


def _overtaken(table: TableLocation) -> int:
    commits = [commit for commit in open_table(table).history() if "readVersion" in commit]
    return sum(commit["readVersion"] < commit["version"] - 1 for commit in commits)


def start_committer(kind: str, table: TableLocation, who: str, environment: dict[str, str]) -> subprocess.Popen[str]:
    """A process of `committer.py`, which says when it is ready."""
    command = [sys.executable, "-m", "tests.storage.committer", kind, str(table), who]
    env = {**os.environ, **environment, "PYTHONPATH": str(CHECKOUT)}
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=env, cwd=CHECKOUT)
