"""The folders that a project has of its own: a few lines, nothing of this repository, and no JVM to load them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tidemark.system.project_root import project_root

FILES = ("warehouse_assets/definitions.py", "sensors/definitions.py", "resources/definitions.py")
_LOADS = """
from pyspark import SparkContext
from warehouse_assets.definitions import definitions
keys = definitions().get_repository_def().get_top_level_resources()
print(sorted(keys), SparkContext._active_spark_context)
"""


@pytest.mark.slow
def test_loading_the_code_location_starts_no_jvm() -> None:
    root = project_root()
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _LOADS],
        cwd=root,
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    assert done.stdout.split("\n")[-2] == "['lake', 'lake_io_manager', 'olap', 'spark', 'state_store'] None"


@pytest.mark.parametrize("name", FILES)
def test_a_new_project_can_have_them_verbatim(name: str) -> None:
    text = (project_root() / name).read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 30
    assert "school" not in text
    assert '"/' not in text
