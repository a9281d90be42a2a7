"""Changes of other programs to a captured table since capture's last commit: reported, unless the rows are the same."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tidemark.capture.commits.foreign_writes import ForeignWrite, foreign_write

if TYPE_CHECKING:
    from pathlib import Path

OWN = 3
LogCommit = tuple[str, dict[str, Any], bool]
Commits = tuple[LogCommit, ...]
WRITE: LogCommit = ("WRITE", {}, True)
OPTIMIZE: LogCommit = ("OPTIMIZE", {}, False)
REPAIR: LogCommit = ("WRITE", {"userMetadata": '{"repair": {}}'}, True)


def table(path: Path, commits: Commits) -> int:
    """The log behind capture's version; returns the newest."""
    log = path / "_delta_log"
    log.mkdir()
    for version, (operation, more, changes_rows) in enumerate(commits, OWN + 1):
        actions = [
            {"commitInfo": {"operation": operation, **more}},
            {"add": {"path": "f", "dataChange": changes_rows}},
            {"txn": {"appId": "x", "version": 1}},
        ]
        (log / f"{version:020d}.json").write_text("\n".join(map(json.dumps, actions)))
    return OWN + len(commits)


def restore(version: int) -> LogCommit:
    return "RESTORE", {"operationParameters": {"version": version}}, True


@pytest.mark.parametrize(
    "commits",
    [
        (),
        (OPTIMIZE, OPTIMIZE),
        (WRITE, restore(OWN)),
        (restore(1), OPTIMIZE, restore(OWN)),
        (OPTIMIZE, WRITE, restore(OWN + 1)),
        (REPAIR,),
    ],
)
def test_the_rows_are_capture_s(tmp_path: Path, commits: Commits) -> None:
    assert foreign_write(tmp_path, OWN, table(tmp_path, commits)) is None


def test_an_unreadable_commit_counts_as_foreign(tmp_path: Path) -> None:
    assert foreign_write(tmp_path, OWN, OWN + 1) == ForeignWrite(4, "a commit that the log has no more")


@pytest.mark.parametrize(
    ("commits", "told"),
    [
        ((WRITE,), ForeignWrite(4, "WRITE")),
        ((restore(2),), ForeignWrite(4, "RESTORE")),
        ((OPTIMIZE, ("DELETE", {"userMetadata": "no JSON"}, True), OPTIMIZE), ForeignWrite(5, "DELETE")),
        ((WRITE, restore(4)), ForeignWrite(5, "RESTORE")),
        ((restore(OWN), WRITE), ForeignWrite(5, "WRITE")),
        ((WRITE, REPAIR), ForeignWrite(4, "WRITE")),
    ],
)
def test_the_rows_are_others(tmp_path: Path, commits: Commits, told: ForeignWrite) -> None:
    assert foreign_write(tmp_path, OWN, table(tmp_path, commits)) == told
