"""A center that starts: everything read from the store and counted again, in a process of its own."""

from __future__ import annotations

import json
import sys
import time
from datetime import datetime
from pathlib import Path

from benchmarks.readiness.world import SINCE, build
from tidemark.center.center import DependencyCenter
from tidemark.state_store.database import Database
from tidemark.state_store.store import StateStore


def main(url: str, scale: float, now: datetime) -> None:
    graph = build(scale).graph
    center = DependencyCenter(graph, StateStore(Database(url)), since=SINCE, clock=lambda: now)
    begun = time.perf_counter()
    slices = len(center.memory.index.statuses)
    seconds = time.perf_counter() - begun
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    rss = next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:")) / 1024
    print(json.dumps({"rebuild_seconds": round(seconds, 2), "rss_mb": round(rss), "slices": slices}))


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), datetime.fromisoformat(sys.argv[3]))
