"""A reload while another load has not ended is refused: the older one's end would be taken for its own."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from tests.capture.operations.test_bad_input import TABLES
from tidemark.capture.commits.commit_state import Commit, CommitState
from tidemark.capture.commits.holds import HoldEvent, Holds
from tidemark.capture.initial_load.errors import LoadUnderWayError
from tidemark.capture.initial_load.reload_requests import ReloadRequest, ReloadRequests
from tidemark.capture.operations import reload_order
from tidemark.capture.operations.reload_order import refuse_load_under_way
from tidemark.state_store.database import Database
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

ORDERS = TABLES[0]
FIRST, SECOND = "a.school.orders_0", "a.school.orders_1"
LOADING = CommitState(holds=Holds().after(HoldEvent("a", 3, FIRST, "asked in part")))


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings.at(tmp_path)


def _state(monkeypatch: pytest.MonkeyPatch, state: CommitState) -> None:
    monkeypatch.setattr(reload_order, "last_commit", lambda _: Commit(1, datetime(2026, 3, 23, tzinfo=UTC), state))


@pytest.mark.parametrize("state", [CommitState(initial_load_pending=(FIRST,)), LOADING])
def test_a_load_of_the_table_or_of_the_shard_is_found(
    settings: Settings, state: CommitState, monkeypatch: pytest.MonkeyPatch
) -> None:
    _state(monkeypatch, state)
    for shard in (None, FIRST):
        with pytest.raises(LoadUnderWayError, match="a load is still running") as refused:
            refuse_load_under_way(settings, Database.of(settings), ORDERS, shard)
        assert refused.value.found == FIRST
        assert "--again" in str(refused.value.hint)
    refuse_load_under_way(settings, Database.of(settings), ORDERS, SECOND)


def test_one_that_was_asked_for_and_is_not_taken_in(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked for twice within a second: the capture has seen neither."""
    refuse_load_under_way(settings, Database.of(settings), ORDERS)
    request = ReloadRequest("r1", ORDERS.name, "me", "now", (FIRST,), {"a": 3})
    ReloadRequests(Database.of(settings)).add(request)
    ReloadRequests(Database.of(settings)).add(replace(request, id="r2", table="ods_users"))
    with pytest.raises(LoadUnderWayError):
        refuse_load_under_way(settings, Database.of(settings), ORDERS)
    _state(monkeypatch, CommitState(reloads=("r1",)))
    refuse_load_under_way(settings, Database.of(settings), ORDERS)
