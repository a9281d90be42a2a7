"""The name node and the data node die as by `kill -9` while Spark and delta-rs commit to one table.

Who writes makes again what failed, as the engine does. What was acknowledged is there, once, and can be read.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from contextlib import ExitStack
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from tests.storage.committers import answer_of, start_committer
from tidemark.delta.delta_rs_table import read_rows
from tidemark.delta.internals.log_files import LogFiles

if TYPE_CHECKING:
    import subprocess

    from tests.components.hdfs_server import HdfsServer, Node

pytestmark = [pytest.mark.components, pytest.mark.long]
KINDS: Final = ("spark-again", "delta-rs-again")
ROUNDS: Final = 8
SEED: Final = 22


def test_nothing_is_lost_doubled_or_torn(hdfs: HdfsServer) -> None:
    table = hdfs.location("lake/killed")
    empty = pa.schema({"who": pa.string(), "n": pa.int64()}).empty_table()
    write_deltalake(str(table), empty)
    with ExitStack() as stack:
        running = {kind: stack.enter_context(start_committer(kind, table, kind, hdfs.environment)) for kind in KINDS}
        for process in running.values():
            assert answer_of(process) == "ready"
        _rounds(hdfs, list(running.values()))
        for process in running.values():
            process.communicate()
        assert [process.returncode for process in running.values()] == [0] * len(running)
    rows = read_rows(table)
    there = Counter(zip(rows["who"].to_pylist(), rows["n"].to_pylist(), strict=True))
    assert there == Counter((kind, number) for kind in KINDS for number in range(ROUNDS + 1))
    assert LogFiles.of(table).start() is None


def _rounds(hdfs: HdfsServer, writers: list[subprocess.Popen[str]]) -> None:
    """In the first nobody dies: as long as it takes, so long after the begin of another one a node may die."""
    chance, took = random.Random(SEED), _commit(writers, 0)
    for number in range(1, ROUNDS + 1):
        for process in writers:
            _ask(process, number)
        time.sleep(chance.uniform(0, took))
        _kill_and_start(hdfs, (hdfs.name_node, hdfs.data_node)[number % 2])
        assert [answer_of(process) for process in writers] == [str(number)] * len(writers)


def _commit(writers: list[subprocess.Popen[str]], number: int) -> float:
    begun = time.monotonic()
    for process in writers:
        _ask(process, number)
    assert [answer_of(process) for process in writers] == [str(number)] * len(writers)
    return time.monotonic() - begun


def _ask(process: subprocess.Popen[str], number: int) -> None:
    assert process.stdin is not None
    process.stdin.write(f"{number} 0\n")
    process.stdin.flush()


def _kill_and_start(hdfs: HdfsServer, node: Node) -> None:
    node.kill()
    node.start_again()
    hdfs.wait_until_it_takes_files()
