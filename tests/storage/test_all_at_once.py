"""Two captures, a repair, a vacuum and a stranger work at once on one table in an object store: nothing is lost."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from tests.components.s3_server import require_s3_server
from tests.project import CHECKOUT
from tests.storage.at_work import BATCHES, COLUMNS, REPAIRED, ROWS, SCHEMA, SHARED, appended, captured
from tests.storage.committers import answer_of
from tidemark.delta.delta_rs_table import read_rows
from tidemark.delta.internals.log_files import LogFiles
from tidemark.delta.open_table import delta_rs_options, open_table

if TYPE_CHECKING:
    from pathlib import Path

    from tests.components.s3_server import S3Server

pytestmark = [pytest.mark.components, pytest.mark.long, pytest.mark.timeout(1_800)]
WORKERS: Final = (("capture", 1), ("capture", 2), ("stranger", 0))
"""They end by themselves; the others go on until these are done."""
BESIDE: Final = (("repair", 0), ("vacuum", 0))


def test_nothing_is_lost(object_store: S3Server, tmp_path: Path) -> None:
    require_s3_server()
    table = object_store.location("lake/all_at_once")
    rows = dict(zip(COLUMNS, map(list, zip(*REPAIRED, strict=True)), strict=True))
    options = delta_rs_options(table)
    write_deltalake(str(table), pa.table(rows, schema=SCHEMA), partition_by=["part"], storage_options=options)
    with ExitStack() as stack:
        running = {
            (role, who): stack.enter_context(at_work(role, str(table), who, tmp_path / "state.db"))
            for role, who in (*WORKERS, *BESIDE)
        }
        assert [answer_of(process) for process in running.values()] == ["ready"] * len(running)
        for process in running.values():
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        assert [answer_of(running[worker]) for worker in WORKERS] == [str(BATCHES), str(BATCHES), str(ROWS)]
        repaired, deleted = (int(running[worker].communicate()[0]) for worker in BESIDE)
    assert repaired, "the stranger's rows were never in the repair's way"
    assert deleted, "there was nothing to vacuum"
    both = (SHARED, "both", f"2.{BATCHES}", 10 * BATCHES + 2)
    expected = [both, *captured(1), *captured(2), *appended(), *REPAIRED]
    there = [tuple(row[name] for name in COLUMNS) for row in read_rows(table).to_pylist()]
    assert sorted(there) == sorted(expected)
    assert LogFiles.of(table).start() is None, "the log has all of its commits"
    assert open_table(table).version() == 2 * BATCHES + ROWS + repaired


def at_work(role: str, uri: str, who: int, state: Path) -> subprocess.Popen[str]:
    """A process of `at_work.py`, which says when it is ready."""
    command = [sys.executable, "-m", "tests.storage.at_work", role, uri, str(who), str(state)]
    env = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=env, cwd=CHECKOUT)
