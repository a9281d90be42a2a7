"""Liveness, judged as of the capture's last look."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from tidemark.capture.heartbeat.idle_or_broken import USUAL, Health
from tidemark.capture.heartbeat.liveness import STALLED, Liveness, note_look
from tidemark.capture.heartbeat.newest_heartbeats import NewestBeats
from tidemark.state_store.database import Database
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 3, 24, 0, 1, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def test_the_notes_of_a_step_are_readable_for_commands(tmp_path: Path) -> None:
    settings = Settings.at(tmp_path / "data")
    assert Liveness.of(Database.of(settings)) == Liveness()
    NewestBeats(Database.of(settings)).note({"a": int(NOW.timestamp() * 1000)})
    note_look(Database.of(settings), "ab", NOW)
    note_look(Database.of(settings), "a", NOW + SECOND)
    assert Liveness.of(Database.of(settings)) == Liveness({"a": NOW + SECOND, "b": NOW}, {"a": NOW})


def test_instances_stay_live_between_two_steps_but_not_if_the_capture_stops() -> None:
    heard = Liveness(dict.fromkeys("abc", NOW), {"a": NOW - SECOND, "b": NOW - USUAL.broken - SECOND})

    def health(instance: str, now: datetime) -> Health:
        return heard.diagnosis(instance, None, now, USUAL).health

    for now in (NOW, NOW + STALLED):
        assert [health(name, now) for name in "abc"] == [Health.IDLE, Health.BROKEN, Health.UNKNOWN]
    stopped = heard.diagnosis("a", None, NOW + STALLED + SECOND, USUAL)
    assert (stopped.health, stopped.since) == (Health.BROKEN, NOW)
