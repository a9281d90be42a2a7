"""All tests of tables and of the capture once more, with their tables in a real S3 server.

In processes of their own: a session of Spark finds its store and its credentials when it starts.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from tests.components.s3_server import require_s3_server
from tests.lake_folder import LAKE
from tests.project import CHECKOUT

_SECONDS = 5_400
pytestmark = [pytest.mark.components, pytest.mark.long, pytest.mark.timeout(_SECONDS)]


@pytest.mark.parametrize("folder", ["tests/delta", "tests/capture"])
def test_all_of_them_hold_there(folder: str) -> None:
    require_s3_server()
    marked = ["-m", "(spark or components) and not long", "-n", "2", "--dist", "loadgroup"]
    command = [sys.executable, "-m", "pytest", "-q", *marked, folder]
    env = {**os.environ, LAKE: "s3"}
    run = subprocess.run(command, env=env, cwd=CHECKOUT, capture_output=True, text=True, check=False, timeout=_SECONDS)
    assert run.returncode == 0, run.stdout[-5_000:]
    assert re.search(r"\d+ passed", run.stdout)
