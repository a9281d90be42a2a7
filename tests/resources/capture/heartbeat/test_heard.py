"""What was heard of heartbeats, and kept: who is broken is judged as of the last look."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from resources.capture.heartbeat.beat import Beat
from resources.capture.heartbeat.health import USUAL, Health
from resources.capture.heartbeat.heard import NOTHING_HEARD, STALLED, HeardFile
from resources.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 3, 24, 0, 1, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def beat(moment: datetime) -> Beat:
    return Beat(0, int(moment.timestamp() * 1000))


def test_the_newest_of_each_instance_is_kept_for_whoever_asks(tmp_path: Path) -> None:
    file = HeardFile.of(Settings.at(tmp_path / "data"))
    assert file.read() == NOTHING_HEARD
    file.write(NOTHING_HEARD)
    assert file.read() == NOTHING_HEARD
    first = NOTHING_HEARD.and_then(NOW, {"a": [beat(NOW - SECOND), beat(NOW - 2 * SECOND)], "b": []})
    file.write(first)
    assert file.read() == first
    assert first.beats == {"a": NOW - SECOND}
    later = first.and_then(NOW + SECOND, {"a": [beat(NOW - 9 * SECOND)], "b": [beat(NOW)]})
    assert (later.at, later.beats) == (NOW + SECOND, {"a": NOW - SECOND, "b": NOW})


def test_between_two_looks_nobody_grows_broken_but_a_capture_that_stopped_hears_nobody() -> None:
    heard = NOTHING_HEARD.and_then(NOW, {"a": [beat(NOW - SECOND)], "b": [beat(NOW - USUAL.broken - SECOND)]})

    def health(instance: str, now: datetime) -> Health:
        return heard.diagnosis(instance, None, now, USUAL).health

    for now in (NOW, NOW + STALLED):
        assert [health(name, now) for name in "abc"] == [Health.IDLE, Health.BROKEN, Health.UNKNOWN]
    stopped = heard.diagnosis("a", None, NOW + STALLED + SECOND, USUAL)
    assert (stopped.health, stopped.since) == (Health.BROKEN, NOW)
