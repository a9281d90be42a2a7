"""The demo's first day with its lake in a real HDFS, whose nodes die on the way: started again, all is equal."""

from __future__ import annotations

import random
import subprocess
import sys
from typing import TYPE_CHECKING, Final

import pytest

from tests.world import World, run_demo

if TYPE_CHECKING:
    from pathlib import Path

    from tests.components.hdfs_server import HdfsServer

pytestmark = [pytest.mark.components, pytest.mark.long, pytest.mark.timeout(2400)]
DAY: Final = ("demo", "--json", "--until", "2026-03-23")
SEED: Final = 22


def test_a_lake_in_hdfs_ends_equal_to_the_database(
    hdfs: HdfsServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIDEMARK_WAREHOUSE", str(hdfs.location("demo")))
    world, moments = World.at(tmp_path), random.Random(SEED)
    demo = subprocess.Popen([sys.executable, "-m", "tidemark.console", *DAY], env=world.environment)
    for node in (hdfs.name_node, hdfs.data_node):
        try:
            demo.wait(timeout=moments.uniform(20, 90))
        except subprocess.TimeoutExpired:
            node.kill()
            node.start_again()
            hdfs.wait_until_it_takes_files()
    # Whether it bore that, or ended with what it could not have.
    demo.wait()
    result = run_demo(world, *DAY[2:], timeout_seconds=1200)
    assert result["snapshots_checked"] == result["snapshots_equal"] == 5
    assert result["metrics_checked"] == result["metrics_equal"] > 100
    assert (result["slices_failed"], result["differences"]) == ([], [])
