"""Heartbeats in a real server: written, distinguished in its binlog, and refused with a message."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import dagster as dg
import pytest

from tests.compute.small_warehouse import small_warehouse
from tidemark.capture.heartbeat.errors import DatabaseDownError, HeartbeatRefusedError
from tidemark.capture.heartbeat.heartbeat_record import KNOWN
from tidemark.capture.heartbeat.source_databases import HeartbeatDatabase
from tidemark.capture.heartbeat.writer import missing_columns, write_heartbeat, write_heartbeats
from tidemark.console.servers.mariadb import USER
from tidemark.dagster.sensors.write_and_watch_heartbeats import heartbeat_sensor
from tidemark.system.free_port import LOOPBACK, free_port

if TYPE_CHECKING:
    from pathlib import Path

    from tidemark.console.servers.mariadb import MariaDb

pytestmark = pytest.mark.components

NOW = datetime(2026, 3, 23, 10, 0, tzinfo=UTC)


@pytest.fixture
def database(mariadb_server: MariaDb) -> HeartbeatDatabase:
    with mariadb_server.connect() as session, session.cursor() as cursor:
        cursor.execute("DROP DATABASE IF EXISTS beats; CREATE DATABASE beats")
    return HeartbeatDatabase("a", LOOPBACK, mariadb_server.port, "beats", USER, mariadb_server.password)


def beats(server: MariaDb) -> list[datetime]:
    with server.connect("beats") as session, session.cursor() as cursor:
        cursor.execute("SELECT beat_at FROM heartbeat")
        return [row[0].replace(tzinfo=UTC) for row in cursor.fetchall()]


def test_each_heartbeat_is_one_event_of_the_binlog_with_the_writers_time(
    mariadb_server: MariaDb, database: HeartbeatDatabase
) -> None:
    write_heartbeat(database, NOW)
    sizes = []
    for number in range(1, 4):
        write_heartbeat(database, NOW + timedelta(milliseconds=number))
        sizes.append(sum(path.stat().st_size for path in mariadb_server.binlogs()))
    assert sizes == sorted(set(sizes))
    assert beats(mariadb_server) == [NOW + timedelta(milliseconds=3)]


def test_its_known_columns_have_their_values_and_a_table_may_lack_any_of_them(
    mariadb_server: MariaDb, database: HeartbeatDatabase
) -> None:
    """The server prints them as Canal sends them. An older table has the NULL alone, a person's has none."""
    with mariadb_server.connect("beats") as session, session.cursor() as cursor:
        for minutes, lacking in enumerate(((), KNOWN[1:], KNOWN)):
            write_heartbeat(database, NOW)
            for known in lacking:
                cursor.execute(f"ALTER TABLE heartbeat DROP COLUMN IF EXISTS {known.name}")
            assert missing_columns(cursor) == tuple(lacking)
            write_heartbeat(database, NOW + timedelta(minutes=minutes))
            assert beats(mariadb_server) == [NOW + timedelta(minutes=minutes)]
            for known in KNOWN:
                if known not in lacking:
                    cursor.execute(f"SELECT CAST({known.name} AS BINARY) FROM heartbeat")  # noqa: S608 - our own names
                    ((stored,),) = cursor.fetchall()
                    printed = known.sent[-1].encode("latin-1") if known.sent else None
                    assert (known.name, stored) == (known.name, printed)


def test_one_instance_that_is_down_or_refuses_keeps_none_of_the_others_from_its_heartbeat(
    mariadb_server: MariaDb, database: HeartbeatDatabase
) -> None:
    down = replace(database, instance="down", port=free_port())
    refused = replace(database, instance="refused", password="wrong")
    problems = {failure.instance: failure.problem for failure in write_heartbeats([down, refused, database], NOW)}
    assert isinstance(problems["down"], DatabaseDownError)
    assert isinstance(problems["refused"], HeartbeatRefusedError)
    assert "Access denied" in str(problems["refused"])
    assert (problems["a"], beats(mariadb_server)) == (None, [NOW])


def test_the_sensor_writes_and_says_where_it_could_not(
    mariadb_server: MariaDb, database: HeartbeatDatabase, tmp_path: Path
) -> None:
    down = replace(database, instance="down", port=free_port())
    with dg.instance_for_test() as instance, dg.build_sensor_context(instance=instance) as context:
        tick = heartbeat_sensor([database, down], small_warehouse(tmp_path)).evaluate_tick(context)
    assert tick.skip_message == "heartbeats written on 1 of 2 instances, none on down"
    (beat,) = beats(mariadb_server)
    assert abs(datetime.now(UTC) - beat) < timedelta(minutes=1)
