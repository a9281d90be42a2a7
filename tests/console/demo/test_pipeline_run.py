"""Capture and computing go side by side, and stop together."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tidemark.console.demo.pipeline_run import compute_while_capturing

MOMENTS = [datetime(2026, 3, 24, tzinfo=UTC) + timedelta(days=day) for day in range(4)]


def test_everything_is_captured_and_computed_after_it_came() -> None:
    captured: list[datetime] = []
    seen: list[int] = []

    def capture(moment: datetime) -> int:
        captured.append(moment)
        return 10

    assert compute_while_capturing(MOMENTS, capture, lambda: seen.append(len(captured))) == 40
    assert captured == MOMENTS
    assert seen[-1] == 4
    assert compute_while_capturing([], capture, lambda: seen.append(0)) == 0


def test_an_error_of_capture_ends_the_run() -> None:
    def capture(moment: datetime) -> int:
        if moment == MOMENTS[1]:
            raise OSError("the disk is full")
        return 1

    with pytest.raises(OSError, match="the disk is full"):
        compute_while_capturing(MOMENTS, capture, lambda: None)
