"""Each cause is raised once while it is there, and recovers once; whom to tell is noted in the same transaction."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidemark.alerts.alert import AlertEvent, AlertKind, Trouble
from tidemark.alerts.alert_book import AlertBook
from tidemark.alerts.outbox import Outbox
from tidemark.state_store.database import Database
from tidemark.state_store.errors import FencedError
from tidemark.state_store.lease import Lease

if TYPE_CHECKING:
    from collections.abc import Sequence

NOW = datetime(2026, 3, 29, 0, 30, tzinfo=UTC)


def trouble(cause: str, *slices: str, message: str = "", channels: Sequence[str] = ("log",)) -> Trouble:
    return Trouble(cause, message or f"{cause}: {', '.join(slices)}", tuple(slices), tuple(channels))


def told(database: Database) -> list[tuple[int, str, str]]:
    book = AlertBook(database)
    deliveries = Outbox(database).of([*book.open(), *book.recent(100)])
    return sorted((delivery.alert.number, delivery.event.value, delivery.channel) for delivery in deliveries)


def test_a_cause_is_raised_once_kept_up_to_date_and_recovers_once(database: Database) -> None:
    book = AlertBook(database)
    book.reconcile(AlertKind.BASELINE, [trouble("late", "a@1", "b@1")], NOW)
    book.reconcile(AlertKind.BASELINE, [trouble("late", "b@1", "c@1", message="later still")], NOW)
    (alert,) = book.open()
    assert (alert.cause, alert.message, alert.slices, alert.raised_at) == (
        "late",
        "later still",
        ("a@1", "b@1", "c@1"),
        NOW,
    )
    assert told(database) == [(1, "raised", "log")]
    for minutes in (5, 6):
        book.reconcile(AlertKind.BASELINE, [], NOW + timedelta(minutes=minutes))
    assert (book.open(), [over.recovered_at for over in book.recent(9)]) == ([], [NOW + timedelta(minutes=5)])
    assert told(database) == [(1, "raised", "log"), (1, "recovered", "log")]
    book.reconcile(AlertKind.BASELINE, [trouble("late", "a@2")], NOW + timedelta(days=1))
    assert [alert.number for alert in book.open()] == [2]


def test_later_receivers_get_the_alert_and_all_get_its_end(database: Database) -> None:
    book = AlertBook(database)
    book.reconcile(AlertKind.RULE, [trouble("broken", "a@1", channels=["trade"])], NOW)
    book.reconcile(AlertKind.RULE, [trouble("broken", "a@1", "b@1", channels=["trade", "growth"])], NOW)
    book.reconcile(AlertKind.RULE, [], NOW)
    assert told(database) == [
        (1, event, channel) for event in ("raised", "recovered") for channel in ("growth", "trade")
    ]


def test_kinds_do_not_take_each_others_alerts_back(database: Database) -> None:
    book = AlertBook(database)
    book.reconcile(AlertKind.RULE, [trouble("same", "a@1")], NOW)
    book.reconcile(AlertKind.BASELINE, [trouble("same", "b@1")], NOW)
    book.reconcile(AlertKind.BASELINE, [], NOW)
    assert [(alert.kind, alert.slices) for alert in book.open()] == [(AlertKind.RULE, ("a@1",))]


def test_a_center_without_the_lease_raises_no_alert(database: Database) -> None:
    clock = [0.0]
    first, second = (Lease(database, holder, 10.0, clock=lambda: clock[0]) for holder in ("first", "second"))
    first.hold()
    book = AlertBook(database, lambda: first.fence)
    book.reconcile(AlertKind.RULE, [trouble("broken", "a@1")], NOW, {"cursor": "7"})
    clock[0] = 11.0
    second.hold()
    with pytest.raises(FencedError):
        book.reconcile(AlertKind.RULE, [], NOW, {"cursor": "8"})
    assert [alert.cause for alert in book.open()] == ["broken"]
    assert book.cursor("cursor") == "7"


def test_old_recovered_alerts_are_deleted(database: Database) -> None:
    book = AlertBook(database)
    book.reconcile(AlertKind.RULE, [trouble("old", "a@1")], NOW)
    book.reconcile(AlertKind.RULE, [trouble("new", "a@1")], NOW)
    book.reconcile(AlertKind.RULE, [trouble("open", "a@1")], NOW + timedelta(days=1))
    book.forget(NOW + timedelta(hours=1))
    assert [alert.cause for alert in [*book.open(), *book.recent(9)]] == ["open", "new"]
    assert {number for number, _, _ in told(database)} == {2, 3}


CAUSES = st.sets(st.sampled_from("abc"))


@settings(max_examples=25, deadline=None)
@given(history=st.lists(st.tuples(CAUSES, st.booleans()), max_size=12))
def test_one_message_at_the_start_and_end_of_each_cause_despite_crashes(history: list[tuple[set[str], bool]]) -> None:
    """The reference: a stretch of looks at which a cause is there. `True`: the process died after that look."""
    database = Database("sqlite://")
    book, before, expected = AlertBook(database), set[str](), Counter[tuple[str, str]]()
    for causes, dies in history:
        book.reconcile(AlertKind.BASELINE, [trouble(cause, f"{cause}@1") for cause in sorted(causes)], NOW)
        expected.update((cause, AlertEvent.RAISED.value) for cause in causes - before)
        expected.update((cause, AlertEvent.RECOVERED.value) for cause in before - causes)
        before, book = causes, AlertBook(database) if dies else book
    every = [*book.open(), *book.recent(100)]
    assert Counter((delivery.alert.cause, delivery.event.value) for delivery in Outbox(database).of(every)) == expected
    assert {alert.cause for alert in book.open()} == before
    database.close()
