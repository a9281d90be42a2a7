"""Several processes of Spark and of delta-rs that commit to one table of an object store at the same time."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
from deltalake import write_deltalake

from tests.project import CHECKOUT
from tidemark.delta.delta_rs_table import current_version, read_rows
from tidemark.delta.internals.log_files import LogFiles
from tidemark.delta.open_table import delta_rs_options

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tidemark.system.table_location import ObjectLocation

_SECONDS = 900


@dataclass(frozen=True)
class Committed:
    """Rows by (who, number): how often each was acknowledged, and how often it is in the table."""

    acknowledged: Counter[tuple[str, int]]
    there: Counter[tuple[str, int]]
    versions: int
    is_log_whole: bool

    @property
    def lost(self) -> int:
        """Rows that were acknowledged and are not there."""
        return sum((self.acknowledged - self.there).values())

    @property
    def doubled(self) -> int:
        """Rows that are there more often than once."""
        return sum(count - 1 for count in self.there.values())


def commit_at_once(
    table: ObjectLocation,
    kinds: Sequence[str],
    count: int,
    environment: dict[str, str],
    meanwhile: Callable[[], None] = lambda: None,
) -> Committed:
    """A process for each of `kinds` (`spark`, `delta-rs`) makes `count` commits; all begin together."""
    empty = pa.schema({"who": pa.string(), "n": pa.int64()}).empty_table()
    write_deltalake(str(table), empty, storage_options=delta_rs_options(table))
    with ExitStack() as stack:
        running = {
            f"{kind}-{number}": stack.enter_context(_start(kind, table, f"{kind}-{number}", count, environment))
            for number, kind in enumerate(kinds)
        }
        for process in running.values():
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        said: dict[str, str] = {}
        threads = [threading.Thread(target=_follow, args=(who, process, said)) for who, process in running.items()]
        for thread in threads:
            thread.start()
        meanwhile()
        for thread in threads:
            thread.join()
        assert [process.returncode for process in running.values()] == [0] * len(running)
    acknowledged = Counter((who, int(line)) for who, text in said.items() for line in text.split())
    rows = read_rows(table)
    there = Counter(zip(rows["who"].to_pylist(), rows["n"].to_pylist(), strict=True))
    log = LogFiles.of(table)
    return Committed(acknowledged, there, current_version(table) or 0, log.start() is None)


def _start(
    kind: str, table: ObjectLocation, who: str, count: int, environment: dict[str, str]
) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.storage.committer", kind, str(table), who, str(count)]
    env = {**os.environ, **environment, "PYTHONPATH": str(CHECKOUT)}
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=env, cwd=CHECKOUT)


def _follow(who: str, process: subprocess.Popen[str], said: dict[str, str]) -> None:
    said[who], _ = process.communicate("go\n", timeout=_SECONDS)
