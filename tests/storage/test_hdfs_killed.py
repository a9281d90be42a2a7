"""The name node and the data node die as by `kill -9` while Spark and delta-rs commit to one table.

Who writes makes again what failed, as the engine does. What was acknowledged is there, once, and can be read.
"""

from __future__ import annotations

import itertools
import random
import time
from collections import Counter
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from tests.storage.committers import answer_of, start_committer
from tidemark.delta.delta_rs_table import read_rows
from tidemark.delta.internals.log_files import LogFiles

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator

    from tests.components.hdfs_server import HdfsServer, Node

pytestmark = [pytest.mark.components, pytest.mark.long, pytest.mark.timeout(1800)]
KINDS: Final = ("spark-again", "delta-rs-again")
DEATHS: Final = 4
AT_ONCE: Final = 3
"""Commits that each has to make when a node dies."""
SEED: Final = 22


def test_nothing_is_lost_doubled_or_torn(hdfs: HdfsServer) -> None:
    table = hdfs.location("lake/killed")
    empty = pa.schema({"who": pa.string(), "n": pa.int64()}).empty_table()
    write_deltalake(str(table), empty)
    with ExitStack() as stack:
        running = {kind: stack.enter_context(start_committer(kind, table, kind, hdfs.environment)) for kind in KINDS}
        for process in running.values():
            assert answer_of(process) == "ready"
        count = _commit_and_kill(hdfs, list(running.values()))
        for process in running.values():
            process.communicate()
        assert [process.returncode for process in running.values()] == [0] * len(running)
    rows = read_rows(table)
    there = Counter(zip(rows["who"].to_pylist(), rows["n"].to_pylist(), strict=True))
    assert there == Counter((kind, number) for kind in KINDS for number in range(count))
    assert LogFiles.of(table).start() is None


def _commit_and_kill(hdfs: HdfsServer, writers: list[subprocess.Popen[str]]) -> int:
    """How many commits each made. While it makes the first ones nobody dies: that is how long it takes, when warm."""
    chance, numbers = random.Random(SEED), itertools.count()
    _round(writers, numbers, lambda: None)
    begun = time.monotonic()
    _round(writers, numbers, lambda: None)
    took = time.monotonic() - begun
    for death in range(DEATHS):
        node = (hdfs.name_node, hdfs.data_node)[death % 2]
        _round(writers, numbers, partial(_die, hdfs, node, chance.uniform(0, took)))
    return next(numbers)


def _round(writers: list[subprocess.Popen[str]], numbers: Iterator[int], meanwhile: Callable[[], None]) -> None:
    asked = list(itertools.islice(numbers, AT_ONCE))
    for process in writers:
        assert process.stdin is not None
        process.stdin.write("".join(f"{number} 0\n" for number in asked))
        process.stdin.flush()
    meanwhile()
    for process in writers:
        assert [int(answer_of(process)) for _ in asked] == asked


def _die(hdfs: HdfsServer, node: Node, after_seconds: float) -> None:
    time.sleep(after_seconds)
    node.kill()
    node.start_again()
    hdfs.wait_until_it_takes_files()
