"""Centers, the daemon, warm workers, their host and the database are killed at random: each slice is computed once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.center.service_chaos import trials
from tests.components.availability import POSTGRESQL, require

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.components, pytest.mark.xdist_group("warm_runs"), pytest.mark.long]


@pytest.mark.timeout(900)
def test_a_few_deaths(tmp_path: Path) -> None:
    require(POSTGRESQL)
    assert trials(tmp_path, 7, 4).total() >= 4


@pytest.mark.timeout(7_200)
def test_a_hundred_deaths_among_five_thousand_slices(tmp_path: Path) -> None:
    require(POSTGRESQL)
    assert trials(tmp_path, 11, 100).total() >= 100
