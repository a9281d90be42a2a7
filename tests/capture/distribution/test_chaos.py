"""Members are killed, join, leave and freeze, the broker dies and returns: nothing is lost, doubled or out of order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.capture.distribution.chaos import DATABASE, play
from tests.capture.distribution.stream import SHARDS, instances
from tests.components.availability import KAFKA, require

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.components, pytest.mark.long]


@pytest.mark.parametrize("seed", [1])
def test_forty_injections_leave_every_message_once_and_in_order(tmp_path: Path, seed: int) -> None:
    require(KAFKA)
    told = play(seed, 40, tmp_path, print)
    assert told.problems == []
    assert sum(told.injections.values()) == 40
    assert told.tables == len(instances(DATABASE)) * len(SHARDS)
    assert told.messages > 10_000
