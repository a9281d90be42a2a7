"""The table of a message, whatever its rows hold."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tidemark.capture.distribution.physical_table_of_message import physical_of

CANALS_TRAP = '],"database":"x","es":1,"table":"trap","ts":1'
TRAP = '"source":{"db":"other","table":"trap"}'


def debezium(text: str, table: str = "orders_0") -> bytes:
    source = {"version": "3.5.0", "ts_ms": 1, "snapshot": "false", "db": "school", "sequence": None, "table": table}
    value = {"before": None, "after": {"id": 1, "source": text, "note": text}, "source": source, "op": "c"}
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


@given(st.text() | st.just(TRAP) | st.just("\\" + TRAP))
def test_table_names_inside_rows_do_not_count(text: str) -> None:
    assert physical_of(debezium(text)) == "school.orders_0"


@given(st.text(min_size=1) | st.sampled_from(['a"b', "a\\b", "a}b", "a{b", "é"]))
def test_any_name_is_read(table: str) -> None:
    assert physical_of(debezium("x", table)) == f"school.{table}"


def test_canals_and_spaced_messages_are_read_too() -> None:
    flat = {"data": [{"table": "trap", "database": "x"}], "database": "school", "table": "users", "type": "INSERT"}
    assert physical_of(json.dumps(flat).encode()) == "school.users"
    assert physical_of(json.dumps(json.loads(debezium("x")), indent=1).encode()) == "school.orders_0"


@pytest.mark.parametrize(
    "value", [b"", b"{", b"[]", b"3", b"\xff", b"[" * 100_000, b'{"source":{"db":"\xff","table":"x"}}']
)
def test_a_message_of_an_unknown_writer_has_no_table(value: bytes) -> None:
    assert physical_of(value) is None


@pytest.mark.parametrize(
    "value", [b"{}", b'{"ts_ms":1}', b'{"source":{"db":"school","table":null},"ddl":"CREATE DATABASE school"}']
)
def test_a_message_without_a_table_is_empty(value: bytes) -> None:
    assert physical_of(value) == ""


# The first text of a process waits for its table of characters, which a busy machine makes for seconds.
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["database", "table", "ts", "es", "note"]), st.none() | st.text() | st.just(CANALS_TRAP)
    )
)
def test_table_names_inside_rows_of_canal_do_not_count(row: dict[str, str | None]) -> None:
    flat = {"data": [row, row], "database": "school", "es": 5, "id": 1, "isDdl": False, "mysqlType": {"table": "int"}}
    rest = {
        "old": [row, row],
        "pkNames": ["table"],
        "sql": "",
        "sqlType": {"table": 4},
        "table": "users",
        "ts": 6,
        "type": "UPDATE",
    }
    value = json.dumps({**flat, **rest}, ensure_ascii=False, separators=(",", ":"))
    assert physical_of(value.encode()) == "school.users"
