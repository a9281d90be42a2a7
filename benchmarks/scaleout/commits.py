"""Commits of Spark and of delta-rs to one table at once, through the proxy that counts them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from benchmarks.scaleout.asked import watched_store
from tests.storage.committers import commit_at_once

if TYPE_CHECKING:
    from pathlib import Path

_KINDS: Final = ("spark", "delta-rs")


def lost_and_doubled(folder: Path, commits: int, store: str) -> dict[str, Any]:
    """`lost_commits` and `doubled_commits` of so many of each; `refused_commits`: puts that the store did not take."""
    with watched_store(folder, store) as (watched, location):
        done = commit_at_once(location / "at_once", _KINDS, commits, {})
        statuses = Counter(request.status for request in watched.take() if request.kind == "conditional PUT")
    if sum(done.acknowledged.values()) != len(_KINDS) * commits or not done.is_log_whole:
        raise RuntimeError(f"{len(_KINDS) * commits} commits and a whole log were to be made: {done}")
    return {
        "lost_commits": done.lost,
        "doubled_commits": done.doubled,
        "commits": sum(done.acknowledged.values()),
        "overtaken_commits": done.overtaken,
        "refused_commits": statuses[412] + statuses[409],
    }
