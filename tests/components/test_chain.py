"""The real chain under chaos, small: `python -m tests.components.chain` is the same with a million changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.components.availability import KAFKA, MARIADB, require
from tests.components.chain.play import play
from tests.components.chain.story import KINDS, Story

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.components, pytest.mark.spark, pytest.mark.long]


@pytest.mark.parametrize("seed", [1])
def test_every_snapshot_is_what_the_database_answered_whatever_died(tmp_path: Path, seed: int) -> None:
    require(MARIADB, KAFKA)
    story = Story(seed, changes=12_000, injected=len(KINDS), hours=3)
    told = play(story, tmp_path, 200.0, print, "pytest -m long tests/components/test_chain.py")
    assert told.problems == []
    assert (told.lost, told.doubled, told.torn, told.late) == (0, 0, 0, 0)
    assert told.snapshots_equal == told.snapshots == 12
    assert sum(told.injections.values()) == len(KINDS)
    assert told.changes == told.captured > 5_000
    assert told.sent_again > 0
