"""A backup of any moment of any sequence of runs restores to the figures of that moment, which go on being right."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.backup.depot import Depot
from tests.backup.test_restore_backup import run
from tidemark.dependency_model.status import RunState

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Run = tuple[str, list[int]]
RUNS = st.tuples(
    st.sampled_from([f"2026-03-0{day}" for day in (1, 2, 3)]), st.lists(st.integers(0, 9), min_size=1, max_size=3)
)
UNTIL_POSITIONS = 2
"""Runs that end after the store's copy, or after Dagster's, are in the copy of the lake; later ones are not."""


@pytest.mark.long
@settings(deadline=None, max_examples=20)
@given(before=st.lists(RUNS, max_size=2), meanwhile=st.lists(RUNS, min_size=4, max_size=4))
def test_a_backup_of_any_moment_restores_to_its_figures(kept: Path, before: list[Run], meanwhile: list[Run]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        shutil.copytree(kept / "depot", root / "depot")
        depot = Depot(root / "depot")
        for day, numbers in before:
            depot.compute(day, numbers)
        waiting = list(meanwhile)
        depot.backup(root / "backup", lambda _: depot.compute(*waiting.pop(0)) if waiting else None)
        run("restore", root / "backup", "--into", root / "restored")
        run("doctor", "--after-restore", "--apply", root=root / "restored")
        restored = Depot(root / "restored")
        ended = [("2026-03-01", [1, 2]), *before, *meanwhile[:UNTIL_POSITIONS]]
        assert restored.figures() == figures(ended)
        there = {day for day, _ in ended[:-1]}
        assert {day for day, (state, _) in restored.states().items() if state is RunState.COMPLETED} >= there
        restored.compute("2026-03-02", [5])
        assert restored.figures() == figures([*ended, ("2026-03-02", [5])])


def figures(runs: Sequence[Run]) -> list[tuple[str, int]]:
    """Each day has the numbers of its last run."""
    newest: Mapping[str, list[int]] = dict(runs)
    return sorted((day, number) for day, numbers in newest.items() for number in numbers)
