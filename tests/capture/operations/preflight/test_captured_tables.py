"""What a server's catalog says of captured tables, made up and of a real server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tidemark.capture.operations.preflight.captured_tables import (
    Cascade,
    SourceCatalog,
    captured_tables,
    read_catalog,
)
from tidemark.capture.source_table import SourceTable

if TYPE_CHECKING:
    from tidemark.console.servers.mariadb import MariaDb

SEATS = SourceTable("ods_seats", "cataloged.seats_*", ("a",), ("lesson_id", "user_id"), None, ())
LESSONS = SourceTable("ods_lessons", "cataloged.lessons", ("a",), ("id",), None, ())
SOURCES = [SEATS, LESSONS]
SOUND = SourceCatalog(
    ("cataloged.lessons", "cataloged.other", "cataloged.seats_0"),
    {"cataloged.lessons": ["ID"], "cataloged.seats_0": ["user_id", "lesson_id"]},
    [Cascade("cataloged.other", "fk", "lessons", "CASCADE", "RESTRICT")],
)


def told(catalog: SourceCatalog, instance: str = "a") -> list[tuple[str, str]]:
    return [(finding.subject, finding.verdict) for finding in captured_tables(instance, catalog, SOURCES)]


def test_nothing_is_said_where_all_is_well_and_of_tables_that_are_not_captured() -> None:
    assert told(SOUND) == []
    assert told(SOUND._replace(keys={}), instance="b") == []


@pytest.mark.parametrize("key", [["lesson_id"], [], ["lesson_id", "user_id", "seat"]])
def test_another_key_is_a_problem(key: list[str]) -> None:
    catalog = SOUND._replace(keys={**SOUND.keys, "cataloged.seats_0": key})
    assert told(catalog) == [("table a.cataloged.seats_0", "problem")]


def test_a_foreign_key_that_changes_captured_rows_is_a_problem() -> None:
    catalog = SOUND._replace(cascades=[Cascade("cataloged.seats_0", "fk", "lessons", "RESTRICT", "SET NULL")])
    (finding,) = captured_tables("a", catalog, SOURCES)
    assert (finding.subject, finding.verdict) == ("table a.cataloged.seats_0", "problem")
    assert "foreign key fk to lessons: ON DELETE RESTRICT, ON UPDATE SET NULL" in finding.found


def test_a_column_with_zero_dates_is_a_warning() -> None:
    dates = [("cataloged.other", "at"), ("cataloged.seats_0", "at")]
    (finding,) = captured_tables("a", SOUND._replace(dates=dates), SOURCES)
    assert (finding.subject, finding.verdict) == ("table a.cataloged.seats_0", "warning")
    assert finding.found.startswith("at may not be NULL and may be 0000-00-00")


def test_a_column_that_an_initial_load_reads_otherwise_is_a_warning() -> None:
    columns = [
        ("cataloged.other", "begins", False),
        ("cataloged.seats_0", "begins", False),
        ("cataloged.seats_0", "no", True),
    ]
    findings = captured_tables("a", SOUND._replace(loaded_otherwise=columns), SOURCES)
    assert [(finding.verdict, finding.found.split(",")[0]) for finding in findings] == [
        ("warning", "begins: an initial load reads wrong fractions (00:00:00.500 for 00:00:00.050)"),
        ("warning", "no is invisible"),
    ]


def test_a_table_that_stops_the_connector_is_a_problem_even_if_not_captured() -> None:
    (finding,) = captured_tables("a", SOUND._replace(unreadable=[("x.audit", "is system-versioned")]), SOURCES)
    assert (finding.subject, finding.verdict) == ("table a.x.audit", "problem")
    assert "table.exclude.list (x.audit)" in (finding.to_do or "")


def test_a_table_named_like_a_shard_is_reported() -> None:
    names = ("cataloged.seats_20260323", "cataloged.seats_old", "cataloged.seatsx")
    assert told(SOUND._replace(tables=(*SOUND.tables, *names))) == [
        ("table a.cataloged.seats_20260323", "warning"),
        ("table a.cataloged.seats_old", "warning"),
    ]


@pytest.mark.components
def test_a_real_servers_catalog(mariadb_server: MariaDb) -> None:
    foreign = "lesson_id INT, CONSTRAINT FOREIGN KEY (lesson_id) REFERENCES cataloged.lessons (id)"
    statements = (
        "DROP DATABASE IF EXISTS cataloged",
        "CREATE DATABASE cataloged",
        (
            "CREATE TABLE cataloged.lessons (id INT PRIMARY KEY, at DATE NOT NULL, seen DATE NULL, "
            "a TIME(3), b TIME, c TIME(6), d INT INVISIBLE)"
        ),
        f"CREATE TABLE cataloged.seats_0 (user_id INT, PRIMARY KEY (lesson_id, user_id), {foreign} ON DELETE CASCADE)",
        f"CREATE TABLE cataloged.seats_1 (user_id INT, PRIMARY KEY (lesson_id), {foreign})",
        "CREATE TABLE cataloged.seats_old (user_id INT)",
        "CREATE TABLE cataloged.past (id INT PRIMARY KEY) WITH SYSTEM VERSIONING",
        "CREATE TABLE cataloged.small (id INT PRIMARY KEY, v VARCHAR(500) COMPRESSED)",
    )
    with mariadb_server.connect() as session, session.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
        catalog = read_catalog(cursor)
        cursor.execute("SELECT @@GLOBAL.sql_mode")
        (mode,) = cursor.fetchone() or ("",)
        cursor.execute("DROP DATABASE cataloged")
    (cascade,) = (cascade for cascade in catalog.cascades if cascade.physical.startswith("cataloged."))
    assert cascade._replace(name="") == Cascade("cataloged.seats_0", "", "lessons", "CASCADE", "RESTRICT")
    zero_dates = [column for table, column in catalog.dates if table == "cataloged.lessons"]
    assert zero_dates == ([] if "NO_ZERO_DATE" in mode else ["at"])
    assert catalog.loaded_otherwise == [("cataloged.lessons", "a", False), ("cataloged.lessons", "d", True)]
    assert [table for table in catalog.unreadable if table[0].startswith("cataloged.")] == [
        ("cataloged.past", "is system-versioned"),
        ("cataloged.small", "has a COMPRESSED column"),
    ]
    catalog = catalog._replace(dates=(), loaded_otherwise=(), unreadable=())
    subjects = {finding.subject: finding.verdict for finding in captured_tables("a", catalog, SOURCES)}
    assert subjects == {
        "table a.cataloged.seats_0": "problem",
        "table a.cataloged.seats_1": "problem",
        "table a.cataloged.seats_old": "warning",
    }
