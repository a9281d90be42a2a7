"""A reader that polls the table through random good and bad writes, kills included, sees no row that breaks a rule."""

import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.delta.published_writes import DONE, NUMBER, POINTS, expected_rows, write_all
from tidemark.delta.delta_rs_table import read_rows
from tidemark.system.crash_points import ENV_NAME

pytestmark = [pytest.mark.spark, pytest.mark.long]

_SECONDS = 3600


@contextmanager
def reading(folder: Path) -> Iterator[None]:
    """A process that looks at every version until the writes are through; its complaint is this test's."""
    command = [sys.executable, "-m", "tests.delta.published_writes", "read", str(folder), "0", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as reader:
        try:
            yield
        finally:
            (folder / DONE).touch()
            told, complaint = reader.communicate(timeout=_SECONDS)
        assert reader.returncode == 0, complaint
        seen, there = map(int, told.split())
        assert seen == there > 0


def killed_at(folder: Path, seed: int, count: int, point: str, passes: int) -> None:
    """A writer that dies at a point on its so-manieth write."""
    command = [sys.executable, "-m", "tests.delta.published_writes", "write", str(folder), str(seed), str(count)]
    env = {**os.environ, ENV_NAME: f"{point}:{passes}"}
    writer = subprocess.run(command, env=env, capture_output=True, check=False, timeout=_SECONDS)
    assert writer.returncode == -signal.SIGKILL, writer.stderr[-2000:]


def live(spark: SparkSession, folder: Path, seed: int, count: int, kills: int) -> None:
    """`count` writes of a seed, of which `kills` die at points and moments of that seed, and are done again."""
    chance = random.Random(seed)
    with reading(folder):
        for kill in range(kills):
            progress = folder / NUMBER
            at = int(progress.read_text()) if progress.exists() else 0
            passes = chance.randrange(1, max(2, (count - at) // (kills - kill + 1)))
            killed_at(folder, seed, count, POINTS[(seed + kill) % len(POINTS)], passes)
        write_all(spark, folder, seed, count)
    stored = {(row["dt"], row["id"], row["kind"]) for row in read_rows(folder / "t").to_pylist()}
    assert stored == expected_rows(seed, count)


def test_a_few_writes(spark: SparkSession, tmp_path: Path) -> None:
    live(spark, tmp_path, seed=2, count=16, kills=1)


@pytest.mark.timeout(4 * 3600)
def test_a_thousand_writes(spark: SparkSession, tmp_path: Path) -> None:
    """Any other seed: TIDEMARK_TEST_SEED=17; and so many writes: TIDEMARK_TEST_WRITES=100."""
    seed, count = (
        int(os.environ.get(f"TIDEMARK_TEST_{name}", given)) for name, given in (("SEED", 1), ("WRITES", 1000))
    )
    live(spark, tmp_path, seed, count, kills=max(4, count // 40))
