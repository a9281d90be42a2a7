"""A download that fails is a file that does not exist, whatever Dagster raises."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from tidemark.console.dagster_server.web_server import DownloadGuard

if TYPE_CHECKING:
    from tidemark.system.http_guard import Receive, Scope, Send


def asked(path: str, *, after: int = 0) -> list[Any]:
    sent: list[Any] = []

    async def fails(_scope: Scope, _receive: Receive, send: Send) -> None:
        for _ in range(after):
            await send({"type": "http.response.start", "status": 200, "headers": []})
        raise ValueError("not enough values to unpack")

    async def receive() -> Any:
        return {"type": "http.request"}

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(DownloadGuard(fails)({"type": "http", "path": path}, receive, send))
    return sent


@pytest.mark.parametrize("path", ["/logs/../../state.db", "/logs/x", "/download_debug/none", "/notebook"])
def test_a_failed_download_is_not_found(path: str) -> None:
    assert asked(path)[0]["status"] == 404


@pytest.mark.parametrize(("path", "after"), [("/graphql", 0), ("/logs/x", 1)])
def test_other_failures_stay_as_they_are(path: str, after: int) -> None:
    with pytest.raises(ValueError, match="not enough"):
        asked(path, after=after)
