"""kill -9 at each phase: the table is as before or as after, and VACUUM takes what was left lying."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.delta.clustering.tables import content, create_table
from tidemark.delta.delta_rs_table import current_version
from tidemark.quoting.spark import path_table
from tidemark.storage.stored_files import stored_files
from tidemark.system.crash_points import ENV_NAME
from tidemark.system.table_location import TableLocation

pytestmark = pytest.mark.spark

CODE = """
import sys
from pathlib import Path
from tidemark.delta.clustering.cluster_table import Clustering, cluster_table
from tidemark.system.settings import Settings
from tidemark.spark.session import spark_session
from tidemark.system.table_location import table_location
path = table_location(sys.argv[1])
session = spark_session(Settings.at(Path(sys.argv[2]), warehouse=path.parent))
cluster_table(session, path, Clustering.by("a", target_bytes=2_000))
"""
POINTS = {"cluster.planned": 2, "cluster.written": 2, "cluster.before_commit": 2, "cluster.after_commit": 3}


@pytest.mark.long
@pytest.mark.parametrize("point", POINTS)
def test_old_or_new(spark: SparkSession, lake: TableLocation, tmp_path: Path, point: str) -> None:
    path = create_table(spark, lake, spark.range(900).selectExpr("id", "hash(id) AS a"))
    before = content(spark, path)
    command = [sys.executable, "-c", CODE, str(path), str(tmp_path)]
    state = subprocess.run(command, env={**os.environ, ENV_NAME: point}, capture_output=True, check=False)
    assert state.returncode == -signal.SIGKILL, state.stderr
    assert (current_version(path), content(spark, path)) == (POINTS[point], before)
    live = {Path(file).name for file in spark.read.format("delta").load(str(path)).inputFiles()}
    orphans = set(stored_files(path).names()) - live
    assert bool(orphans) == (point != "cluster.planned")
    session = spark.newSession()
    session.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    session.sql(f"VACUUM {path_table(path)} RETAIN 0 HOURS")
    assert set(stored_files(path).names()) == live
    assert content(spark, path) == before
