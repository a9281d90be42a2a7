"""The real chain under chaos, small: `python -m tests.components.chain` is the same with a million changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.components.availability import KAFKA, MARIADB, require
from tests.components.chain.injections.kinds import INJECTIONS
from tests.components.chain.play import play
from tests.components.chain.story import Story

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.components, pytest.mark.spark, pytest.mark.long]


@pytest.mark.timeout(3600)
def test_fail_overs_to_replicas_lose_and_double_nothing(tmp_path: Path) -> None:
    require(MARIADB, KAFKA)
    kinds = ("fail-over to a replica", "connector restarted", "replay of a part", "capture killed", "database killed")
    told = play(Story(3, 8_000, 9, 2, kinds), tmp_path, 200.0, print, "pytest -m long tests/components/test_chain.py")
    assert told.problems == []
    assert told.silently_wrong == 0
    assert told.snapshots_equal == told.snapshots > 0
    assert told.injections["fail-over to a replica"] == 2


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("seed", [1])
def test_every_snapshot_is_what_the_database_answered_whatever_died(tmp_path: Path, seed: int) -> None:
    require(MARIADB, KAFKA)
    story = Story(seed, changes=8_000, injected=8, hours=2)
    told = play(story, tmp_path, 200.0, print, "pytest -m long tests/components/test_chain.py")
    assert told.problems == []
    assert (told.lost, told.doubled, told.torn) == (0, 0, 0)
    assert told.silently_wrong == 0
    assert told.snapshots_equal == told.snapshots > 0
    # What is done to the data, and to processes, in turns.
    assert sum(told.injections.values()) == 8
    assert len(told.injections.keys() & INJECTIONS.keys()) == 4
