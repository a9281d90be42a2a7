"""Statements that were made to stop their reader: bounded time and depth, whatever the text."""

from __future__ import annotations

import contextlib
import time
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import each
from tests.seeds import chunks
from tidemark.capture.initial_load.load_events import parse_load_request
from tidemark.capture.schema.ddl import recorded_statement
from tidemark.capture.schema.ddl.recorded_statement import RecordedStatement
from tidemark.capture.schema.ddl.statement import statement_effects, undeclared
from tidemark.capture.schema.ddl.tokens import MAX_CHARACTERS, UnreadableStatementError, readings_of
from tidemark.capture.schema.ddl.unlogged_row_effects import Emptied, Unproven

# A beginning, what is repeated, and an end.
LONG_STATEMENTS: tuple[tuple[str, str, str], ...] = (
    ("CREATE VIEW v AS SELECT '", "/*!", "'"),
    ("ALTER TABLE t ", "COMMENT 'x' ", ""),
    ("", "/*!", ""),
    ("/*!", "1", ""),
    ("", "/*M!", "*/"),
    ("ALTER TABLE t ", ",", ""),
    ("ALTER TABLE t ADD c INT DEFAULT ", "-", ""),
    ("ALTER TABLE ", "x.", ""),
    ("SELECT ", "(", ""),
    ("DROP TABLE ", "`", ""),
    ("ALTER TABLE t ", "ENGINE=InnoDB ", ""),
    ("ALTER TABLE t ADD (", "(", ""),
    ("ALTER TABLE t ADD c INT ", "NOT NULL ", ""),
    ("RENAME TABLE ", "a TO b, ", ""),
)
SHORT_SECONDS = 2.0
SHORTER = 8_000
"""Characters. Four times as many take about four times as long; a reader that is quadratic takes sixteen times."""


@pytest.mark.parametrize(("begin", "repeated", "end"), each(5, LONG_STATEMENTS))
def test_time_grows_with_the_length_alone(begin: str, repeated: str, end: str) -> None:
    seconds: dict[int, float] = {}
    for _ in range(3):
        for size in (SHORTER, 4 * SHORTER):
            begun = time.process_time()
            assert isinstance(statement_effects(begin + repeated * (size // len(repeated)) + end, "school"), list)
            seconds[size] = min(seconds.get(size, 1e9), time.process_time() - begun)
    assert seconds[4 * SHORTER] < 10 * seconds[SHORTER] + 0.05


def test_any_number_of_options_is_read() -> None:
    for count in (1, 200, 400, 5_000):
        assert statement_effects("ALTER TABLE other.nothing " + "COMMENT 'x' ROW_FORMAT=DYNAMIC " * count, "x") == []
    held = statement_effects("ALTER TABLE t " + "COMMENT 'x' " * 400 + "ENGINE=unknown COMMENT 'y'", "school")
    assert all(isinstance(effect, Unproven) for effect in held)
    assert held[0].physical == "school.t"


def test_a_longer_statement_is_not_read() -> None:
    (held,) = statement_effects("TRUNCATE t -- " + "x" * MAX_CHARACTERS, "school")
    assert isinstance(held, Unproven)
    assert held.physical == "school.*"


PIECES = st.sampled_from(
    ["/*", "/*!", "/*M!", "/*!50100", "*/", "*", "/", "!", "M", "12", "a", " ", "'", "\n", "--", "٣"]
)


@given(st.lists(PIECES, max_size=24).map("".join))
def test_whatever_stands_in_comments_is_read_or_refused(sql: str) -> None:
    with contextlib.suppress(UnreadableStatementError):
        assert 1 <= len(readings_of(sql)) <= 4


@pytest.mark.parametrize(
    ("sql", "read"),
    [
        ("a /*! b */ c", ["a b c"]),
        ("a /*!50100 b */ /*M! c */", ["a b", "a b c"]),
        ("a /*!999999 b */ /* c */", ["a", "a b"]),
        ("a '/*! b */' c", ["a /*! b */ c"]),
        ("a -- it's\n /*! b */", ["a b"]),
    ],
)
def test_text_that_only_some_servers_execute_is_read_both_ways(sql: str, read: list[str]) -> None:
    assert sorted(" ".join(word.text for word in words) for words in readings_of(sql)) == read


def test_a_reader_that_breaks_holds_the_database_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RecursionError

    statement = RecordedStatement("a", 1, "TRUNCATE t", "school")
    monkeypatch.setattr(recorded_statement, "statement_effects", broken)
    assert statement.effects(undeclared, undeclared) == [
        Unproven("school.*", "the statement cannot be read: RecursionError")
    ]


@pytest.mark.parametrize(
    ("sql", "database", "concerns"),
    [
        ("TRUNCATE t", "school", True),
        ("TRUNCATE t", "School", True),
        ("TRUNCATE `SCHOOL`.t", "other", True),
        ("TRUNCATE other.t", "other", False),
        ("DROP DATABASE school", "", True),
    ],
)
def test_a_statement_of_other_databases_is_not_parsed(sql: str, database: str, *, concerns: bool) -> None:
    assert RecordedStatement("a", 1, sql, database).may_concern("school") is concerns
    if concerns and "TRUNCATE" in sql:
        assert statement_effects(sql.lower(), database.lower()) == [Emptied("school.t")]


def test_a_statement_of_too_many_words_is_not_read() -> None:
    """4,096 columns, the most that a table of MySQL has, are read."""
    columns = ",".join(f"`c{number}` DECIMAL(10,2) UNSIGNED NOT NULL DEFAULT 0.00" for number in range(4_096))
    assert statement_effects(f"CREATE TABLE t ({columns})", "school") == []
    with pytest.raises(UnreadableStatementError, match="more than 100,000 words and signs"):
        readings_of("ALTER TABLE t " + "," * 100_000)


MATCHING = ("(.*)*" * 50,)


@pytest.mark.parametrize("pattern", [r"\S*" * 40 + "X", "(a+)+$" * 20, "(.*)*" * 50, "(?=x)", "(", "a{1,100000}", ""])
def test_a_pattern_of_a_record_takes_no_time(pattern: str) -> None:
    request = parse_load_request("a", 1, f'{{"data-collections": [{_json(pattern)}]}}')
    assert request.asks_for("school.orders_" + "a" * 200) is (pattern in MATCHING)


def test_names_and_patterns_ask_for_tables() -> None:
    request = parse_load_request("a", 1, r'{"data-collections": ["school.users", "school\\.orders_[0-9]+", 5]}')
    asked = [name for name in ("school.users", "school.orders_12", "school.orders_x") if request.asks_for(name)]
    assert asked == ["school.users", "school.orders_12"]


WORDS = (
    *("ALTER", "TABLE", "RENAME", "TO", "CREATE", "OR", "REPLACE", "VIEW", "DROP", "TRUNCATE", "ADD", "COLUMN", "INT"),
    *("DEFAULT", "NOT", "NULL", "PARTITION", "BY", "FOR", "SET STATEMENT", "IF EXISTS", "school", "t", "`t`", "'x'"),
    *('"y"', "/*!50100", "/*", "*/", "/*M!", "-- ", "#", "\\", ";", ",", "(", ")", ".", "1e9", "`", "'", '"', "\n"),
    *("\x00", "b'1'", "0x", "=", "\ud83c\udf89", "x" * 5_000),
)


def read_many(first: int, count: int) -> None:
    """Read random statements, each with its own seed. A reader that breaks is an error here, not a hold."""
    for seed in range(first, first + count):
        chance = Random(seed)
        sql = chance.choice((" ", "")).join(chance.choice(WORDS) for _ in range(chance.choice((3, 10, 30, 200))))
        begun = time.process_time()
        try:
            effects = statement_effects(sql, "school")
        except Exception as error:
            error.add_note(f"seed {seed}")
            raise
        assert isinstance(effects, list)
        assert time.process_time() - begun < SHORT_SECONDS, f"seed {seed}"


def test_any_statement_is_read() -> None:
    read_many(100, 200)


@pytest.mark.long
@pytest.mark.parametrize("first", chunks(1_000, 5_000, 20_000))
def test_twenty_thousand_statements_are_read(first: int) -> None:
    read_many(first, 5_000)


def _json(text: str) -> str:
    import json

    return json.dumps(text)
