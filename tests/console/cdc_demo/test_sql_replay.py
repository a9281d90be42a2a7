"""The recorded school lives on a real server once more: its rows, its times, and on after a kill where it was."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from tests.components import binlog
from tidemark.console.cdc_demo.local_stack import Pace
from tidemark.console.cdc_demo.recording import Recording
from tidemark.console.cdc_demo.sql_replay import DATABASE, Player, prepare
from tidemark.console.project_files import SAMPLE

if TYPE_CHECKING:
    from tidemark.console.servers.mariadb import MariaDb

CHANGES = SAMPLE / "changes"
START = 1774220400


def test_a_day_takes_the_configured_time() -> None:
    pace = Pace(START, begun=100.0, day_seconds=120.0)
    assert pace.at(100.0) == START
    assert pace.at(220.0) == START + 86_400
    assert pace.at(160.5) == START + 43_560


@pytest.mark.components
def test_each_change_happens_once_however_often_the_player_is_started(mariadb_server: MariaDb) -> None:
    before = binlog.row_changes(mariadb_server.binlogs())
    with mariadb_server.connect() as session, session.cursor() as cursor:
        for until in (START + 1_805, START + 1_805, START + 1_870):
            player = Player({"b": (session, Recording(CHANGES / "b", prepare(session)))})
            player.play(until)
            assert player.at is not None
            assert player.at > until
        played = binlog.row_changes(mariadb_server.binlogs()) - before
        cursor.execute("SELECT UNIX_TIMESTAMP(beat_at) FROM heartbeat")
        assert cursor.fetchall() == ((START + 1_866,),)
        cursor.execute(f"DROP DATABASE {DATABASE}; DROP DATABASE played")
    assert played == recorded_changes(START + 1_870)
    assert played["orders_2", "insert"] > 100


def recorded_changes(until: int) -> Counter[tuple[str, str]]:
    """Row changes up to a time by (table, operation), as the binlog's own are counted."""
    recording, changes = Recording(CHANGES / "b"), Counter[tuple[str, str]]()
    while packet := recording.until(until, 1_000):
        for _, statement in packet:
            if not statement.is_ddl:
                changes[statement.sql.split("`")[1], statement.sql.split()[0].lower()] += 1
    return changes
