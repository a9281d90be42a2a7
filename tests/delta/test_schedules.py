"""Merge, repair, append, delete and vacuum in any order: the table is what a list of rows would be, names included."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.delta.internals.delta_log import forget_tables
from tests.delta.schedules import WriterSchedule
from tidemark.delta import merge_strategy as strategy
from tidemark.system.table_location import TableLocation

pytestmark = pytest.mark.spark

_STEPS, _FEW = 8, 5


@pytest.fixture(scope="module")
def session(spark: SparkSession) -> SparkSession:
    own = spark.newSession()
    own.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    return own


@pytest.fixture(autouse=True)
def small_tables_use_vectors_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strategy, "HIDDEN_SHARE", 0.6)


def live(
    session: SparkSession,
    places: tuple[TableLocation, Path],
    seed: int,
    patch: pytest.MonkeyPatch,
    *,
    has_vectors: bool,
    steps: int = _STEPS,
) -> None:
    """One schedule; of those with an odd seed, files of a few rows are folded into the next one."""
    patch.setattr(strategy, "SMALL_BYTES", 1_500 * (seed % 2))
    WriterSchedule(session, *places, seed, has_vectors).live(steps)
    # Delta keeps what it knows of a table for an hour: of five hundred tables that fills the memory.
    forget_tables(session)


@pytest.fixture
def places(lake: TableLocation, tmp_path: Path) -> tuple[TableLocation, Path]:
    """Where the table is, and the state store."""
    return lake, tmp_path


@pytest.mark.parametrize(
    ("seed", "has_vectors"),
    [pytest.param(0, True, id="deletion vectors"), pytest.param(1, False, id="plain, folded", marks=pytest.mark.long)],
)
def test_a_few_schedules(
    session: SparkSession,
    places: tuple[TableLocation, Path],
    monkeypatch: pytest.MonkeyPatch,
    seed: int,
    *,
    has_vectors: bool,
) -> None:
    live(session, places, seed, monkeypatch, has_vectors=has_vectors, steps=_FEW)


@pytest.mark.long
@pytest.mark.timeout(4 * 3600)
@pytest.mark.parametrize("has_vectors", [False, True], ids=["plain", "deletion vectors"])
def test_many_schedules(
    session: SparkSession, places: tuple[TableLocation, Path], monkeypatch: pytest.MonkeyPatch, *, has_vectors: bool
) -> None:
    for seed in range(1000, 1500):
        live(session, places, seed, monkeypatch, has_vectors=has_vectors)
