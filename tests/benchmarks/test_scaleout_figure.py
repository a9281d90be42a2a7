"""What a small slice and a merge ask of an object store, and no more; the figures of it, small."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any, Final

import pytest

from benchmarks.scaleout.requests import Request, kind_of, waits
from tests.components.s3_server import require_s3_server
from tests.project import CHECKOUT

MOST: Final = {"start": 4, "slice": 19, "merge": 23, "snapshot_name": 20, "vacuum": 34}
"""Requests of each step in a warm session, with a few to spare: which of two readers opens a file first may differ.

A start puts an object twice, and looks whether the one that is there is its own as the second put is refused. A vacuum
reads the log of a table that no other step has opened in this process by delta-rs: of each commit it asks some times.
"""
LISTS: Final = {"slice": 3, "merge": 9}


def _measured(*arguments: str) -> dict[str, Any]:
    """In a process of its own: a session of Spark finds its store when it starts."""
    command = [sys.executable, "-m", "benchmarks", "scaleout", "--json", "--show", "--only", *arguments]
    done = subprocess.run(command, cwd=CHECKOUT, env=dict(os.environ), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3_000:]
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told | {"shown": done.stderr}


@pytest.mark.long
@pytest.mark.components
def test_no_step_asks_more_of_the_store_than_it_has_to() -> None:
    require_s3_server()
    told = _measured("requests")
    asked = {name: told[f"requests_per_{name}"] for name in MOST}
    assert {name: count for name, count in asked.items() if count > MOST[name]} == {}, told["shown"]
    lists = {name: told[f"kinds_per_{name}"]["LIST"] for name in LISTS}
    assert {name: count for name, count in lists.items() if count > LISTS[name]} == {}, told["shown"]
    for name in ("slice", "merge"):
        kinds = told[f"kinds_per_{name}"]
        assert kinds["conditional PUT"] == 2, "the commit and its checksum"
        assert kinds["PUT"] == 1, "the data"
        assert "DELETE" not in kinds
        assert 0 < told[f"waits_per_{name}"] <= told[f"requests_per_{name}"]


@pytest.mark.components
@pytest.mark.long
def test_the_other_figures_are_measured() -> None:
    require_s3_server()
    told = _measured("ratios", "local", "workers", "commits", "--rounds", "1", "--slices", "2", "--commits", "10")
    for name in ("slice_ratio_30ms", "merge_ratio_30ms", "local_ratio_before", "workers1_s", "workers2_s"):
        assert told[name] > 0
    assert told["workers_tasks"]["1"] == told["workers_tasks"]["2"] > 16
    assert told["workers_simulated_speedup"]["2"] > 1
    assert (told["lost_commits"], told["doubled_commits"], told["commits"]) == (0, 0, 20)


@pytest.mark.parametrize(
    ("method", "target", "headers", "kind", "key"),
    [
        ("GET", "/lake?list-type=2&prefix=t%2F&start-after=t%2F1", {}, "LIST", "t/ after t/1"),
        ("GET", "/lake/t/a%20b", {}, "GET", "t/a b"),
        ("GET", "/lake/t/a", {"range": "bytes=0-1"}, "ranged GET", "t/a"),
        ("HEAD", "/lake/t/a", {}, "HEAD", "t/a"),
        ("PUT", "/lake/t/a", {}, "PUT", "t/a"),
        ("PUT", "/lake/t/a", {"if-none-match": "*"}, "conditional PUT", "t/a"),
        ("PUT", "/lake/t/a?partNumber=1&uploadId=x", {}, "multipart", "t/a"),
        ("POST", "/lake/t/a?uploads", {}, "multipart", "t/a"),
        ("POST", "/lake?delete", {}, "DELETE", "several of lake"),
        ("DELETE", "/lake/t/a", {}, "DELETE", "t/a"),
    ],
)
def test_each_request_is_classified(method: str, target: str, headers: dict[str, str], kind: str, key: str) -> None:
    assert kind_of(method, target, headers) == (kind, key)


def test_requests_that_are_made_at_once_are_waited_for_once() -> None:
    times = [(0, 3), (1, 2), (2, 4), (3, 5), (5, 6)]
    assert waits(Request("GET", "", 200, 0, 0, begun, ended) for begun, ended in times) == 3
    assert waits([]) == 0
