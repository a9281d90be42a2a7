"""The demo's slices on a cluster of two workers, whose executors are set by a file; one worker dies in between."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.spark.standalone_cluster import StandaloneCluster, standalone_cluster
from tests.world import World

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.spark, pytest.mark.long, pytest.mark.timeout(1800)]

CONF: Final = "# two executors\nspark.executor.memory 512m\nspark.executor.cores 1\n"


def _executors(folder: Path) -> list[Path]:
    """The folders of executors that workers started."""
    return sorted(folder.glob("work_*/app-*/*"))


def _demo(cluster: StandaloneCluster, folder: Path, world: World, *, kills: bool) -> dict[str, Any]:
    """The first day on the cluster; what the command told."""
    (folder / "spark.conf").write_text(CONF)
    own = {"TIDEMARK_SPARK_MASTER": cluster.master, "TIDEMARK_SPARK_CONF": str(folder / "spark.conf")}
    command = [sys.executable, "-m", "tidemark.console", "demo", "--json", "--until", "2026-03-23"]
    with subprocess.Popen(
        command, env={**world.environment, **own}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as demo:
        if kills:
            while len(_executors(folder)) < 2 and demo.poll() is None:
                time.sleep(0.2)
            time.sleep(20)
            cluster.kill_worker(1)
        told, complaint = demo.communicate(timeout=1500)
    assert demo.returncode == 0, f"{told}\n{complaint[-3000:]}"
    result: dict[str, Any] = json.loads(told)
    return result


@pytest.mark.parametrize("kills", [False, True], ids=["whole", "a worker dies"])
def test_the_first_day_is_equal_on_a_cluster(tmp_path: Path, *, kills: bool) -> None:
    with standalone_cluster(tmp_path) as cluster:
        result = _demo(cluster, tmp_path, World.at(tmp_path / "demo"), kills=kills)
    assert result["snapshots_checked"] == result["snapshots_equal"] == 5
    assert result["metrics_checked"] == result["metrics_equal"] > 100
    assert (result["differences"], result["slices_failed"]) == ([], [])
    logs = [(folder / "stderr").read_text() for folder in _executors(tmp_path)]
    assert len(logs) >= 2
    assert all("-Xmx512M" in log for log in logs)
    killed = [log for log in logs if "Driver commanded a shutdown" not in log]
    assert len(killed) == int(kills)
