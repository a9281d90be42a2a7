"""Counts of records over HTTP: seed 002's story of parts and offsets, taken once however often it is sent."""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.api.client import TOKEN, Client, serving
from tidemark.api.options import ApiOptions
from tidemark.dependency_model.time.window import seconds_of
from tidemark.state_store.record_counts import RecordCounts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

AT = "2024-06-02T15:58:00Z"
WORLD = {
    "landed": "{period: hour, kind: Virtual, probe: {counts: {of: clicks, slot_minutes: 10, phase: 8}}}",
    "counted": "{period: hour, completeness: {time_column: at, sql: [{url: '${SHOP}', table: t}]}}",
    "itself": "{period: hour, kind: Virtual, probe: {counts: {of: counted}}}",
}
SOURCE = {"of": "clicks", "at": AT, "side": "source", "part": "topic-0", "offsets": [700, 40_700]}
LAKE = {"of": "clicks", "at": AT, "side": "lake", "part": "part-0001.parquet", "records": 39_999}
FINAL = {"of": "clicks", "final_until": "2024-06-02T16:08:00Z"}


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with serving(tmp_path, ApiOptions(token=TOKEN, writes_per_second=1e9), texts=WORLD) as opened:
        yield opened


def send(client: Client, body: Any) -> tuple[int, Any]:
    return client.ask("POST", "/v1/counts", body)


def kept(client: Client) -> list[tuple[int, str, str, int]]:
    """All counts of the name, by minute, side and part."""
    return RecordCounts(client.world.store.database).within("clicks", 0, 1 << 40)


def test_parts_and_offsets_are_taken_once_however_often_they_are_sent(client: Client) -> None:
    taken = (200, {"counts": 2, "final": {"clicks": "2024-06-02T16:08:00Z"}})
    assert [send(client, [SOURCE, LAKE, FINAL]), send(client, [FINAL, LAKE, SOURCE])] == [taken, taken]
    (minute, side, part, records), source = kept(client)
    assert (side, part, records) == ("lake", "part-0001.parquet", 39_999)
    assert source == (minute, "source", "topic-0", 40_000)
    assert RecordCounts(client.world.store.database).final_until("clicks") == minute + 10
    assert send(client, {**LAKE, "records": 40_000}) == (200, {"counts": 1, "final": {}})
    assert kept(client)[0] == (minute, "lake", "part-0001.parquet", 40_000)


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({**LAKE, "of": "nobody"}, "no entity uses counts with this name"),
        ({**LAKE, "of": "counted"}, "no entity uses counts with this name"),
        ({**LAKE, "offsets": [1, 2]}, "exactly one of records, offsets"),
        ({**SOURCE, "offsets": [2, 1]}, "the first is after the last"),
        ({**SOURCE, "offsets": [0, 1 << 52]}, "records of one part and minute"),
        ({**LAKE, "records": 1 << 60}, "less than"),
        ({**LAKE, "at": "2024-06-02T15:58:00"}, "timezone"),
        ({**LAKE, "part": "\ud800"}, "text"),
        ({**LAKE, "more": 1}, "Extra inputs"),
        ([LAKE], "not an object"),
        ("clicks", "not an object"),
    ],
)
def test_one_wrong_entry_refuses_all_and_is_named(client: Client, entry: Any, words: str) -> None:
    status, answer = send(client, [SOURCE, entry])
    assert (status, answer["error"]["where"]) == (400, "entry 1"), answer
    assert words in json.dumps(answer["error"])
    assert kept(client) == []


def test_a_request_is_bounded(client: Client) -> None:
    assert send(client, [])[0] == 400
    assert send(client, [FINAL] * 20_001)[0] == 400
    assert client.ask("POST", "/v1/counts", LAKE, token=None)[0] == 401
    assert kept(client) == []


_ENTRY = st.fixed_dictionaries(
    {
        "of": st.sampled_from(["clicks", "nobody", ""]),
        "at": st.datetimes().map(lambda at: f"{at.isoformat()}Z") | st.text(max_size=8),
        "side": st.sampled_from(["source", "lake", "sea"]),
        "part": st.text(max_size=8),
        "records": st.integers() | st.none() | st.floats(),
    }
)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(_ENTRY, min_size=1, max_size=3))
def test_any_entry_is_taken_as_sent_or_refused(client: Client, entries: list[dict[str, Any]]) -> None:
    before = kept(client)
    status, _ = client.ask("POST", "/v1/counts", raw=json.dumps(entries).encode())
    assert status in (200, 400)
    if status == 400:
        assert kept(client) == before
    else:
        parts = {(row[1], row[2]) for row in kept(client)}
        assert {(entry["side"], entry["part"]) for entry in entries} <= parts


def test_minutes_are_those_of_the_instant(client: Client) -> None:
    send(client, {**LAKE, "at": "2024-06-02T17:58:30+02:00"})
    ((minute, *_),) = kept(client)
    assert minute * 60 == seconds_of(datetime.fromisoformat(AT))
