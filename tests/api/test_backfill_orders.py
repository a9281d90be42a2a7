"""Invalid requests for backfills over HTTP: they are refused with a message, and nothing is stored."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.api.test_backfills import ACTIONS, ORDER, act, everything_computed, numbers
from tidemark.api.backfill_order import order_of
from tidemark.center.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.api.client import Client

FIELDS = ("subject", "who", "why", "until", "event_id", "dry_run", "approve", "yes")


@pytest.fixture(scope="module")
def unchanged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """For requests that are refused: all of them ask the same server, and there is no backfill at the end."""
    with everything_computed(tmp_path_factory.mktemp("unchanged")) as opened:
        last = opened.world.store.read.last()
        yield opened
        assert (numbers(opened), opened.world.store.read.last()) == ([], last)


@pytest.mark.parametrize("number", ["0", "-1", "x", "1.5", "%00", "99999999999999999999999999", "2147483648"])
def test_an_invalid_number_is_400_or_404(unchanged: Client, number: str) -> None:
    assert unchanged.ask("GET", f"/v1/backfills/{number}")[0] in (400, 404)
    assert act(unchanged, number, "approve")[0] in (400, 404)


def test_a_number_that_there_is_not_is_404_with_words(unchanged: Client) -> None:
    for status, answer in (unchanged.ask("GET", "/v1/backfills/7"), *(act(unchanged, 7, action) for action in ACTIONS)):
        assert (status, answer["error"]["message"], answer["error"]["found"]) == (
            404,
            "the backfill does not exist",
            "7",
        )
    assert act(unchanged, 1, "decline")[0] == 404
    assert unchanged.ask("GET", "/v1/backfills/1/approve")[0] == 405
    for query in ("limit=0", "limit=20001", "limit=x", "skip=-1", f"skip={1 << 31}", f"skip={10**30}"):
        assert unchanged.ask("GET", f"/v1/backfills/1?{query}")[0] == 400


@pytest.mark.parametrize(
    ("change", "status", "says"),
    [
        ({"subject": None}, 400, "backfill.subject"),
        ({"subject": 7}, 400, "backfill.subject"),
        ({"subject": ["ods@2024-06-02"]}, 400, "backfill.subject"),
        ({"subject": ""}, 400, "this is not a slice"),
        ({"subject": "x" * 5_000}, 400, "backfill.subject"),
        ({"subject": "odss@2024-06-02"}, 404, "odss"),
        ({"subject": "table=odss&&dt=20240602"}, 404, "odss"),
        ({"subject": "ods@banana"}, 400, "banana"),
        ({"subject": "ods@2024-02-30"}, 400, "2024-02-30"),
        ({"subject": "ods@1999-03-29"}, 400, "ods has no slice at this time"),
        ({"subject": "table=ods&&dt=19990329"}, 400, "the subject has no slices"),
        ({"subject": "table=ods"}, 400, "a subject without a date"),
        ({"subject": "table=ods&&dt=19700101..21991231"}, 400, "at most 20,000"),
        ({"who": 1}, 400, "backfill.who"),
        ({"who": "x" * 257}, 400, "backfill.who"),
        ({"who": "\0"}, 400, "NUL"),
        ({"why": "\ud800"}, 400, "in Unicode"),
        ({"why": None}, 400, "backfill.why"),
        ({"until": "2024-06-02"}, 400, "backfill.until"),
        ({"until": "2024-06-02T00:00:00"}, 400, "backfill.until"),
        ({"until": "9999-12-31T23:59:59-14:00"}, 400, "known from 1970 to 2199"),
        ({"until": "0001-01-01T00:00:00+14:00"}, 400, "known from 1970 to 2199"),
        ({"until": 1 << 70}, 400, "64 bits"),
        ({"yes": "true"}, 400, "backfill.yes"),
        ({"yes": 1}, 400, "backfill.yes"),
        ({"dry_run": None}, 400, "backfill.dry_run"),
        ({"approve": "no"}, 400, "backfill.approve"),
        ({"dry_run": True, "approve": True}, 400, "a dry run cannot be approved"),
        ({"event_id": ""}, 400, "backfill.event_id"),
        ({"event_id": 7}, 400, "backfill.event_id"),
        ({"phase": "running"}, 400, "backfill.phase"),
        ({"why": "x" * 70_000}, 413, "the body is too long"),
        ({"why": [[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]}, 400, "nested too deeply"),
    ],
)
def test_a_bad_order_is_an_error_and_stores_nothing(
    unchanged: Client, change: dict[str, Any], status: int, says: str
) -> None:
    code, answer = unchanged.ask("POST", "/v1/backfills", {**ORDER, **change})
    assert (code, says in json.dumps(answer)) == (status, True), answer
    assert set(answer["error"]) == {"message", "expected", "found", "where", "hint", "code"}
    assert numbers(unchanged) == []


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*FIELDS, "x"]), inner, max_size=6),
    max_leaves=10,
)


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.binary(max_size=60), _JSON.map(lambda value: json.dumps(value).encode())))
def test_any_input_is_refused_with_a_message_or_executed_as_given(body: bytes) -> None:
    refused, order = "", None
    try:
        order = order_of(body)
    except RequestError as error:
        refused = error.message
    if order is None:
        assert refused
        return
    said, meant = json.loads(body), order.model_dump()
    assert all(meant[name] == value for name, value in said.items() if name != "until")


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"7", b"null", b"[" * 60_000, b'{"subject": NaN}', b"\xff\xfe"])
def test_an_invalid_order_is_400(unchanged: Client, body: bytes) -> None:
    assert unchanged.ask("POST", "/v1/backfills", raw=body)[0] == 400
