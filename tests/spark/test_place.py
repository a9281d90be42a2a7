"""A real master as a place: its room with and without other programs, and the session of a process in this place."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Final

import pytest

from tests.spark.standalone_cluster import StandaloneCluster, standalone_cluster
from tests.until import until
from tidemark.center.place_probes import PlaceSight, look_at
from tidemark.crawl.errors import ProbeError
from tidemark.system.run_places import PlaceKind, RunPlace

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.spark, pytest.mark.long, pytest.mark.timeout(900)]

_IN_PLACE: Final = """
import os
from tidemark.spark.session import spark_session
from tidemark.system.settings import Settings
session = spark_session(Settings.load(os.environ))
assert session.range(10).count() == 10
print(session.sparkContext.master, session.conf.get("spark.cores.max"), flush=True)
input()
"""
_OTHER: Final = """
from pyspark.sql import SparkSession
import sys
builder = SparkSession.builder.master(sys.argv[1]).appName("a notebook").config("spark.driver.host", "127.0.0.1")
session = builder.config("spark.driver.bindAddress", "127.0.0.1").config("spark.cores.max", "1").getOrCreate()
print(session.range(10).count(), flush=True)
input()
"""


def begun(*command: str, **env: str) -> tuple[subprocess.Popen[str], str]:
    """A program that runs until its input ends, and its first line."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    process = subprocess.Popen([sys.executable, "-c", *command], env={**os.environ, **env}, text=True, **pipes)  # type: ignore[call-overload]
    return process, process.stdout.readline().strip()


def ended(process: subprocess.Popen[str]) -> None:
    process.communicate("\n", timeout=120)
    assert process.returncode == 0


def place_of(cluster: StandaloneCluster) -> RunPlace:
    return RunPlace("east", PlaceKind.STANDALONE, cluster.master, cluster.pages)


def test_a_real_master_tells_its_room_and_runs_the_place(tmp_path: Path) -> None:
    with standalone_cluster(tmp_path, workers=2) as cluster:
        place = place_of(cluster)
        assert look_at(place) == PlaceSight(2, "other programs use 0 of 2 cores")
        setting = {"east": {"spark_master": cluster.master, "probe": cluster.pages}}
        own = {"TIDEMARK_PLACES": json.dumps(setting), "TIDEMARK_POOLS": "east=2", "TIDEMARK_PLACE": "east"}
        ours, line = begun(_IN_PLACE, TIDEMARK_DATA=str(tmp_path / "data"), **own)
        assert line == f"{cluster.master} 1"
        assert look_at(place).slots == 2
        other, line = begun(_OTHER, cluster.master)
        assert line == "10"
        assert look_at(place) == PlaceSight(1, "other programs use 1 of 2 cores")
        ended(ours)
        ended(other)
        until(lambda: look_at(place).slots == 2, "cores of the program that ended", pause=0.5)
        for number in range(2):
            cluster.kill_worker(number)
        until(lambda: look_at(place).slots == 0, "the master notices that its workers are gone", pause=0.5)
    with pytest.raises(ProbeError, match="the server did not answer"):
        look_at(place)
