"""Programs that write Delta tables and files, and a web server: each releases its day in a real Dagster instance."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from contextlib import contextmanager
from typing import TYPE_CHECKING

import dagster as dg
import pytest

from tests.dagster.sensors.external_program import DAY, releases_its_day_alone, run_program
from tests.until import until
from tidemark.system.free_port import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DELTA = """
import sys, pyarrow as pa
from deltalake import write_deltalake
rows = pa.table({"day": [sys.argv[2]], "id": [1]})
write_deltalake(sys.argv[1], rows, mode="append", partition_by=["day"])
"""
FILES = """
import sys, pathlib
folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True)
(folder / "part.jsonl").write_text('{"id": 1}\\n{"id": 2}\\n')
(folder / "_SUCCESS").touch()
"""


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    with dg.instance_for_test(temp_dir=str(tmp_path)) as opened:
        yield opened


@pytest.mark.slow
def test_a_delta_table_that_delta_rs_writes(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    table = tmp_path / "feed"
    run_program(DELTA, str(table), "2026-03-22")
    probe = f"delta: {{table: '{table}', partition: {{day: '{{key}}'}}}}"
    releases_its_day_alone(tmp_path, instance, probe, lambda: run_program(DELTA, str(table), DAY))


def test_files_with_their_marker(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    (tmp_path / "in" / "2026-03-23").mkdir(parents=True)
    (tmp_path / "in" / "2026-03-23" / "part.jsonl").write_text('{"id": 1}')
    probe = f"files: {{path: '{tmp_path}/in/{{key}}', marker: _SUCCESS}}"
    deliver = lambda: run_program(FILES, str(tmp_path / "in" / DAY))  # noqa: E731
    releases_its_day_alone(tmp_path, instance, probe, deliver, rule="not_null: [id]")


def test_a_web_server(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    folder = tmp_path / "served"
    folder.mkdir()
    (folder / "2026-03-23.json").write_text(json.dumps({"state": "running", "rows": 5}))

    def deliver() -> None:
        (folder / f"{DAY}.json").write_text(json.dumps({"state": "done", "rows": 5}))

    with web_server(folder) as url:
        probe = f"http: {{url: '{url}/{{key}}.json', field: state, equals: done, rows: rows}}"
        releases_its_day_alone(tmp_path, instance, probe, deliver)


@contextmanager
def web_server(folder: Path) -> Iterator[str]:
    """Python's own, in a process of its own, once it answers."""
    port = free_port()
    command = [sys.executable, "-m", "http.server", str(port), "--bind", "127.0.0.1", "--directory", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            until(lambda: _answers(f"http://127.0.0.1:{port}/"), "the web server's answer")
            yield f"http://127.0.0.1:{port}"
        finally:
            process.kill()


def _answers(url: str) -> bool:
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url, timeout=5):
            return True
    except OSError:
        return False
