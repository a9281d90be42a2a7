"""The main paths of tables, with Spark and delta-rs, once more in S3, Google's and Azure's stores and HDFS.

In a process of their own: a session of Spark finds its store and its credentials when it starts.
"""

import os
import re
import subprocess
import sys
from collections.abc import Callable

import pytest

from tests.components.azure_server import require_azure
from tests.components.gcs_server import require_gcs
from tests.components.hdfs_server import require_hdfs
from tests.components.s3_server import require_s3_server
from tests.lake_folder import LAKE
from tests.project import CHECKOUT

_SECONDS = 1_800
pytestmark = [pytest.mark.components, pytest.mark.long, pytest.mark.timeout(_SECONDS)]

MAIN_PATHS = (
    "test_replace_partition",
    "test_merge",
    "test_vacuum",
    "test_table_changes",
    "clustering/test_cluster_table",
)


@pytest.mark.parametrize(
    ("lake", "require"),
    [("s3", require_s3_server), ("gs", require_gcs), ("abfss", require_azure), ("hdfs", require_hdfs)],
)
def test_main_paths_hold_there(lake: str, require: Callable[[], None]) -> None:
    require()
    files = [f"tests/delta/{name}.py" for name in MAIN_PATHS]
    command = [sys.executable, "-m", "pytest", "-q", "-m", "not long", *files]
    env = {**os.environ, LAKE: lake}
    run = subprocess.run(command, env=env, cwd=CHECKOUT, capture_output=True, text=True, check=False, timeout=_SECONDS)
    assert run.returncode == 0, run.stdout[-5_000:]
    assert re.search(r"\d+ passed in", run.stdout), "none is skipped"
