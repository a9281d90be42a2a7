"""GET /v1/backfills: the newest backfills, with how many of their slices are how far."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.api.client import serving

if TYPE_CHECKING:
    from pathlib import Path


def test_backfills_are_told_and_none_where_there_are_none(tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        assert client.ask("GET", "/v1/backfills") == (200, {"backfills": []})
