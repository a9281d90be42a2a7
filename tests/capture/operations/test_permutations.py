"""Whatever order the shards allow, whatever comes twice, wherever a pass or a process ends: one and the same table.

A failure names its seed; `-k "[7-"` runs the worlds of seed 7 again.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from tests.capture.operations.permutations import Worlds, apply_in_order
from tests.capture.operations.test_crash import POINTS, Killed
from tidemark.capture.apply import table_ingest
from tidemark.capture.commits.commit_state import commits
from tidemark.capture.operations import ingestion as ingestion_module
from tidemark.capture.operations.ingestion import Ingestion
from tidemark.capture.source_table import SourceTable
from tidemark.delta import merge_transaction as merge_attempt
from tidemark.delta.delta_rs_table import read_rows
from tidemark.state_store.snapshot_registry import SnapshotRegistry
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

ORDERS = SourceTable("ods_orders", "school.orders_*", ("a", "b"), ("id",), "day", ())
DEATHS = (*POINTS, "ingest.before_widening", "ingest.after_widening")
PASSES = 4


class PermutedCapture:
    """Takes worlds in, part by part, by processes that die now and then."""

    def __init__(self, spark: SparkSession, worlds: Worlds, folder: Path) -> None:
        self._spark = spark
        self._worlds = worlds
        self._chance = random.Random(worlds.seed)
        self.settings = Settings.at(folder / "data")
        self._landed = dict.fromkeys(worlds.streams, 0)
        self._ingestion = self._start()

    def _start(self) -> Ingestion:
        return Ingestion(self._spark, self.settings, [ORDERS], SnapshotRegistry.at(self.settings.state_db))

    def land(self) -> None:
        """What was sent; a file may begin with what the one before it ended with."""
        for name, stream in self._worlds.streams.items():
            start = max(0, self._landed[name] - self._chance.choice([0, 0, 3]))
            if len(stream.lines) > self._landed[name]:
                stream.land(self.settings.landing, start)
            self._landed[name] = len(stream.lines)

    def step(self, patch: pytest.MonkeyPatch) -> None:
        """A pass; before some of them a process died that had begun it."""
        if self._chance.random() < 0.5:
            self._die(patch, self._chance.choice(DEATHS))
        if self._chance.random() < 0.5:
            self._ingestion = self._start()
        self._ingestion.step()

    def _die(self, patch: pytest.MonkeyPatch, point: str) -> None:
        def crash_point(name: str) -> None:
            if name == point:
                raise Killed

        with patch.context() as patched:
            for module in (merge_attempt, table_ingest, ingestion_module):
                patched.setattr(module, "crash_point", crash_point)
            try:
                self._start().step()
            except Killed:
                self._ingestion = self._start()

    def merged_changes(self) -> int:
        """The changes that the commits count."""
        return sum(commit.state.counts["changes"] for commit in commits(self.settings.warehouse / "ods_orders"))


@pytest.mark.parametrize(
    ("seed", "count"),
    [(0, 5), *(pytest.param(seed, 1000, marks=[pytest.mark.long]) for seed in range(1, 11))],
)
def test_every_permutation_makes_the_same_table(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, count: int
) -> None:
    worlds = Worlds(seed, count, PASSES)
    capture = PermutedCapture(spark, worlds, tmp_path)
    all_again = random.Random(seed).randrange(PASSES)
    for part in range(PASSES):
        worlds.send(part)
        if part == all_again:
            worlds.send_all_again()
        capture.land()
        capture.step(monkeypatch)

    expected = apply_in_order(worlds.lives)
    contents = worlds.by_world(read_rows(capture.settings.warehouse / "ods_orders").to_pylist())
    wrong = [number for number, content in enumerate(contents) if content != expected]
    assert not wrong, (seed, wrong[:5], worlds.permutations[wrong[0]], contents[wrong[0]], expected)
    assert capture.merged_changes() == worlds.changes
    assert min(worlds.sent_again.values()) > 0
