"""Idle, broken and live instances are distinguished and described."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemark.capture.heartbeat.idle_or_broken import Health, Threshold, diagnose

NOW = datetime(2026, 3, 24, 0, 0, 30, tzinfo=UTC)


def ago(**duration: int) -> datetime:
    return NOW - timedelta(**duration)


@pytest.mark.parametrize(
    ("beat", "change", "health", "words"),
    [
        (None, ago(seconds=1), Health.UNKNOWN, "no heartbeat has arrived from b yet"),
        (ago(seconds=4), ago(seconds=9), Health.LIVE, "the last change of b was at 2026-03-24 00:00:21+00:00"),
        (ago(seconds=4), ago(minutes=12), Health.IDLE, "nothing has changed on b for 12 min, its heartbeat is 4 s old"),
        (ago(seconds=4), None, Health.IDLE, "no change has arrived from b yet"),
        (
            ago(minutes=6),
            ago(minutes=6),
            Health.BROKEN,
            "6 min old (2026-03-23 23:54:30+00:00): nothing",
        ),
        (ago(hours=3), ago(seconds=1), Health.BROKEN, "3 h 0 min old"),
    ],
)
def test_health_follows_from_the_last_signs_of_life(
    beat: datetime | None, change: datetime | None, health: Health, words: str
) -> None:
    diagnosis = diagnose("b", beat, change, NOW, Threshold())
    assert diagnosis.health is health
    assert words in diagnosis.reason


@given(st.integers(0, 10_000), st.integers(-3600, 3600), st.integers(60, 3600))
def test_a_wrong_clock_of_the_server_makes_nothing_broken_and_nothing_whole(
    beat_age: int, skew: int, broken_after: int
) -> None:
    threshold = Threshold(broken=timedelta(seconds=broken_after))
    change = NOW - timedelta(seconds=beat_age) + timedelta(seconds=skew)
    diagnosis = diagnose("b", ago(seconds=beat_age), change, NOW, threshold)
    assert (diagnosis.health is Health.BROKEN) == (beat_age > broken_after)
    assert diagnosis.health is not Health.UNKNOWN
