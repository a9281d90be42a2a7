"""Rows that are held on a cluster are there when the machine that computed them is gone."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.spark.standalone_cluster import standalone_cluster
from tidemark.spark.held_rows import held

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

ROWS = 1_000
PROGRAM = f"""
import sys
from pathlib import Path
from tidemark.spark.held_rows import held
from tidemark.spark.session import spark_session
from tidemark.system.settings import Settings
spark = spark_session(Settings.at(Path(sys.argv[1]), spark_master=sys.argv[2]))
executors = spark.sparkContext._jsc.sc().statusTracker()
while len(list(executors.getExecutorInfos())) < 3:  # the driver is one
    pass
rows = held(spark.range({ROWS}).repartition(4))
print("held", flush=True)
sys.stdin.readline()
print(rows.count(), flush=True)
"""


@pytest.mark.spark
def test_on_this_machine_they_are_the_rows(spark: SparkSession) -> None:
    assert held(spark.range(ROWS)).count() == ROWS


@pytest.mark.long
@pytest.mark.spark
def test_a_worker_that_dies_takes_none_with_it(tmp_path: Path) -> None:
    with (
        standalone_cluster(tmp_path) as cluster,
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(tmp_path / "data"), cluster.master],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as program,
    ):
        assert program.stdout is not None
        assert program.stdout.readline() == "held\n"
        cluster.kill_worker(0)
        told, _ = program.communicate("\n", timeout=300)
    assert (program.returncode, told) == (0, f"{ROWS}\n")
