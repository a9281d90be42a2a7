"""A table that has stopped is tried again by itself and by a small pass: the others' hours cost what they did."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast
from unittest.mock import Mock

import pytest

from tests.capture.operations.test_bad_input import TABLES
from tidemark.capture.commits.commit_state import CommitState
from tidemark.capture.operations.ingestion import Ingestion
from tidemark.capture.operations.step_state import StepPosition, StepResult
from tidemark.capture.planning.read_groups import AGAIN_SHARE, LAGGING_SHARE
from tidemark.capture.source_table import topic_of
from tidemark.state_store.snapshot_registry import SnapshotRegistry
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tidemark.capture.commits.capture_lease import CaptureLease
    from tidemark.capture.source_table import SourceTable
    from tidemark.state_store.held_leases import HeldLeases

SOURCES = [replace(TABLES[0], name=name, instances=("a",)) for name in ("broken", "x", "y")]


class PlayedPasses(Ingestion):
    """`ends` says of each pass whether there is more, in order; `passes` are the tables and the share of each."""

    def __init__(self, folder: Path, ends: list[bool]) -> None:
        settings = Settings.at(folder)
        super().__init__(cast("SparkSession", Mock()), settings, SOURCES, SnapshotRegistry.at(settings.state_db))
        self.passes: list[tuple[list[str], float]] = []
        self._ends = ends

    def play(self, stopped: set[str], offsets: dict[str, int]) -> StepPosition:
        states = {name: CommitState(offsets={topic_of("a"): offset}) for name, offset in offsets.items()}
        step = StepResult(lease=cast("CaptureLease", None), held=cast("HeldLeases", Mock()))
        return self._passes(StepPosition(states=states, stopped=frozenset(stopped)), step)

    def _pass(
        self, before: StepPosition, step: StepResult, active: Sequence[SourceTable], share: float
    ) -> tuple[StepPosition, bool]:
        names = [source.name for source in active]
        self.passes.append((names, share))
        if "broken" in names and self._ends == []:
            step.stopped.add("broken")
            return before, False
        return before, bool(self._ends) and self._ends.pop(0)


def test_a_stopped_table_is_read_separately_even_at_a_near_offset(tmp_path: Path) -> None:
    played = PlayedPasses(tmp_path, [])
    played.play({"broken"}, {"broken": 90, "x": 100, "y": 100})
    assert played.passes == [(["x", "y"], 1.0), (["broken"], AGAIN_SHARE)]


def test_a_table_that_works_again_counts_as_lagging(tmp_path: Path) -> None:
    played = PlayedPasses(tmp_path, [False, True, True, False, False, False])
    position = played.play({"broken"}, {"broken": 0, "x": 10**6, "y": 10**6})
    assert position.stopped == frozenset()
    assert played.passes[:4] == [
        (["x", "y"], 1.0),
        (["broken"], AGAIN_SHARE),
        (["x", "y"], 1.0),
        (["broken"], LAGGING_SHARE),
    ]


@pytest.mark.parametrize("names", [{"broken", "x", "y"}, {"broken", "y"}])
def test_tables_that_stopped_for_one_reason_are_tried_together(tmp_path: Path, names: set[str]) -> None:
    """Where all stopped for one reason, a pass of each would take minutes."""
    played = PlayedPasses(tmp_path, [])
    played.play(names, {"broken": 90, "x": 100, "y": 100})
    assert ([name for name in ("broken", "x", "y") if name in names], AGAIN_SHARE) in played.passes
