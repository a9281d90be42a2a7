"""The lease is held whatever the service does, let go of in the end, and not believed in when the store is silent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.until import until
from tidemark.center import leadership
from tidemark.center.leadership import Leadership, holder_name
from tidemark.state_store.database import Database
from tidemark.state_store.errors import StateStoreDownError
from tidemark.state_store.lease import Lease, LeaseState

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database.at(tmp_path / "state.db")
    yield opened
    opened.close()


def test_it_is_held_from_the_beginning_and_let_go_of_in_the_end(database: Database) -> None:
    other = Lease(database, "other", 60)
    with Leadership(Lease(database, "one", 60)) as leads:
        assert (leads.fencing_token, leads.holder) == (1, "one")
        assert other.hold() == ("one", None)
    assert leads.fencing_token is None
    assert other.hold() == ("other", 2)


def test_the_active_one_calls_beside_and_its_errors_lose_no_lease(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leadership, "_EVERY_SECONDS", 0.01)
    called: list[int] = []

    def beside() -> None:
        called.append(1)
        raise ValueError("unforeseen")

    other = Lease(database, "other", 60)
    other.hold()
    with Leadership(Lease(database, "one", 60), beside) as leads:
        assert not called
        other.release()
        until(lambda: len(called) > 3, "calls beside the lease")
        assert leads.fencing_token == 2


def test_one_that_stands_by_takes_its_turn(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leadership, "_EVERY_SECONDS", 0.01)
    first = Lease(database, "first", 60)
    first.hold()
    with Leadership(Lease(database, "second", 60)) as leads:
        assert (leads.fencing_token, leads.holder) == (None, "first")
        first.release()
        until(lambda: leads.fencing_token == 2, "the second one")


def test_a_store_that_is_silent_for_too_long_may_have_given_it_to_another(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leadership, "_EVERY_SECONDS", 0.01)
    lease = Lease(database, "one", 0.2)
    hold, is_down = lease.hold, False

    def answer() -> LeaseState:
        if is_down:
            raise StateStoreDownError("no answer")
        return hold()

    monkeypatch.setattr(Lease, "hold", lambda _: answer())
    with Leadership(lease) as leads:
        assert leads.fencing_token == 1
        is_down = True
        until(lambda: leads.fencing_token is None, "doubt")
        is_down = False
        until(lambda: leads.fencing_token == 1, "an answer")


def test_names_tell_holders_apart() -> None:
    assert holder_name("center").startswith("center ")
    assert holder_name("center") != holder_name("center")
