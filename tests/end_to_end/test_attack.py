"""All that SECURITY.md names, at once, while the servers work: a minute of what `tests/end_to_end/attack/` does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.end_to_end.attack.story import attack

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.timeout(900)
def test_nothing_did_harm(tmp_path: Path) -> None:
    report = attack(tmp_path, 60, 1)
    assert report.problems == []
    assert report.honest_days > 3
    assert report.requests > 500
