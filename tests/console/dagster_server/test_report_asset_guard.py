"""Who may tell Dagster of materializations that no run made."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from tidemark.console.dagster_server.report_asset_guard import ReportGuard

if TYPE_CHECKING:
    from collections.abc import MutableMapping

TOKEN = "0123456789abcdef"
REPORT = "/report_asset_check/orders"
OWN = {"host": "localhost:3000", "sec-fetch-site": "same-origin", "origin": "http://localhost:3000"}


def _answer(path: str, headers: dict[str, str], token: str | None = TOKEN, kind: str = "http") -> int:
    """The status of the answer; 200 is the application's."""
    sent: list[MutableMapping[str, Any]] = []

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    async def receive() -> MutableMapping[str, Any]:
        raise AssertionError("the guard reads no body")

    async def application(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": kind, "method": "POST", "path": path, "headers": pairs}
    asyncio.run(ReportGuard(application, token)(scope, receive, send))
    status: int = sent[0]["status"]
    return status


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"authorization": "Bearer another-token-1"}, 401),
        ({"authorization": f"Bearer {TOKEN}"}, 200),
        (OWN, 401),
        ({"sec-fetch-site": "same-origin"}, 401),
        ({**OWN, "sec-fetch-site": "none"}, 401),
        ({**OWN, "authorization": f"Bearer {TOKEN}"}, 200),
    ],
)
def test_reports_are_for_the_token_whatever_a_header_says_of_the_page(headers: dict[str, str], status: int) -> None:
    assert _answer(REPORT, headers) == status


@pytest.mark.parametrize("headers", [{}, {"authorization": "Bearer "}, {"authorization": "Bearer None"}])
def test_where_no_token_is_set_no_token_is_right(headers: dict[str, str]) -> None:
    assert _answer(REPORT, headers, token=None) == 401


def test_everything_else_passes() -> None:
    assert _answer("/graphql", {}) == 200
    assert _answer("/graphql", {}, kind="websocket") == 200
