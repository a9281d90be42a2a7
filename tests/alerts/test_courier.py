"""Messages arrive once; twice only where a process dies in between; whatever a receiver does, others get theirs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from datetime import timedelta
from threading import Event
from typing import TYPE_CHECKING

import pytest

from tests.alerts.receiver import receiving
from tests.alerts.test_alert_book import NOW, trouble
from tests.project import CHECKOUT
from tidemark.alerts.alert import AlertKind
from tidemark.alerts.alert_book import AlertBook
from tidemark.alerts.channels import Channels
from tidemark.alerts.courier import Courier
from tidemark.alerts.errors import ChannelError
from tidemark.alerts.outbox import ATTEMPTS, DeliveryState, Outbox
from tidemark.state_store.database import Database
from tidemark.system.crash_points import ENV_NAME

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from tidemark.alerts.alert import AlertMessage

_SECONDS = 60.0
SEND = """
import sys
from datetime import datetime
from pathlib import Path
from tidemark.alerts.channels import Channels
from tidemark.alerts.courier import Courier
from tidemark.alerts.outbox import Outbox
from tidemark.state_store.database import Database
file, url, now = sys.argv[1:]
courier = Courier(
    Outbox(Database.at(Path(file))), Channels({"TIDEMARK_CHANNEL_HOOK": url}).send, lambda: datetime.fromisoformat(now)
)
courier.dispatch()
courier.join(60)
"""


class Sender:
    """Takes messages, but of channels in `refused`."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, str]] = []
        self.refused: set[str] = set()
        self.error: Exception = ChannelError("not taken", found="503")

    def __call__(self, channel: str, message: AlertMessage) -> None:
        if channel in self.refused:
            raise self.error
        self.sent.append((channel, message.id))


class Post:
    """A book, an outbox and a courier on a database, with a clock that is set by hand."""

    def __init__(self, database: Database) -> None:
        self.now, self.sender = NOW, Sender()
        self.book, self.outbox = AlertBook(database), Outbox(database)
        self.courier = Courier(self.outbox, self.sender, lambda: self.now)

    def wants(self, *causes: str, channels: tuple[str, ...] = ("a",)) -> None:
        troubles = [trouble(cause, f"{cause}@1", channels=channels) for cause in causes]
        self.book.reconcile(AlertKind.RULE, troubles, self.now)

    def send(self, after: timedelta = timedelta()) -> list[tuple[str, str]]:
        """What is sent then."""
        self.now += after
        before = len(self.sender.sent)
        self.courier.dispatch()
        self.courier.join(_SECONDS)
        return self.sender.sent[before:]

    def states(self) -> list[tuple[str, int]]:
        alerts = [*self.book.open(), *self.book.recent(9)]
        return [(delivery.state.value, delivery.attempts) for delivery in self.outbox.of(alerts)]


@pytest.fixture
def post(database: Database) -> Post:
    return Post(database)


def test_a_sent_message_is_not_sent_again(post: Post) -> None:
    post.wants("x", "y")
    assert post.send() == [("a", "1-raised"), ("a", "2-raised")]
    assert post.send(timedelta(days=1)) == []
    post.wants("y")
    assert post.send() == [("a", "1-recovered")]
    assert post.states() == [("sent", 1)] * 3


def test_a_refused_message_is_tried_again_ever_later_and_its_end_waits_for_it(post: Post) -> None:
    post.wants("x")
    post.sender.refused = {"a"}
    waits = [timedelta(seconds=seconds) for seconds in (2, 4, 8)]
    assert post.send() == []
    for wait in waits:
        post.send(wait - timedelta(milliseconds=1))
        post.send(timedelta(milliseconds=1))
    assert post.states() == [("pending", 4)]
    post.sender.refused = set()
    post.wants()
    assert post.send() == []
    assert post.send(timedelta(seconds=16)) == [("a", "1-raised"), ("a", "1-recovered")]


def test_a_dead_receiver_is_given_up_in_the_end(post: Post) -> None:
    post.wants("x")
    post.sender.refused = {"a"}
    for _ in range(ATTEMPTS + 3):
        post.send(timedelta(hours=1))
    assert post.states() == [(DeliveryState.GIVEN_UP.value, ATTEMPTS)]
    assert post.outbox.of(post.book.open())[0].problem == "not taken: found 503"


def test_an_unforeseen_error_counts_as_an_attempt_and_its_text_is_not_kept(post: Post) -> None:
    post.wants("x")
    post.sender.refused, post.sender.error = {"a"}, KeyError("https://hook.example/secret")
    for _ in range(ATTEMPTS + 3):
        post.send(timedelta(hours=1))
    assert post.states() == [(DeliveryState.GIVEN_UP.value, ATTEMPTS)]
    assert post.outbox.of(post.book.open())[0].problem == "unexpected KeyError"


def test_a_slow_receiver_keeps_no_other_waiting_and_is_not_asked_twice(database: Database) -> None:
    sent, released = list[tuple[str, str]](), Event()

    def send(channel: str, message: AlertMessage) -> None:
        if channel == "slow":
            assert released.wait(_SECONDS)
        sent.append((channel, message.id))

    book = AlertBook(database)
    courier = Courier(Outbox(database), send, lambda: NOW)
    book.reconcile(AlertKind.RULE, [trouble("x", "x@1", channels=["slow"])], NOW)
    courier.dispatch()
    book.reconcile(AlertKind.RULE, [trouble(cause, "x@1", channels=["slow", "quick"]) for cause in "xy"], NOW)
    courier.dispatch()
    while len(sent) < 2:
        courier.join(0.01)
    assert sent == [("quick", "1-raised"), ("quick", "2-raised")]
    released.set()
    courier.join(_SECONDS)
    courier.dispatch()
    courier.join(_SECONDS)
    assert sorted(sent[2:]) == [("slow", "1-raised"), ("slow", "2-raised")]


def _send_in_a_process(file: Path, url: str, now: datetime, *, dies: bool) -> int:
    env = {**os.environ, "PYTHONPATH": str(CHECKOUT), **({ENV_NAME: "alerts.sent"} if dies else {})}
    line = [sys.executable, "-c", SEND, str(file), url, now.isoformat()]
    return subprocess.run(line, env=env, check=False, timeout=120).returncode


@pytest.mark.slow
def test_a_process_that_is_killed_between_sending_and_noting_it_sends_one_duplicate(tmp_path: Path) -> None:
    file = tmp_path / "state.db"
    book = AlertBook(Database.at(file))
    book.reconcile(AlertKind.RULE, [trouble("x", "x@1", channels=["hook"])], NOW)
    with receiving() as receiver:
        assert _send_in_a_process(file, receiver.url, NOW, dies=True) == -signal.SIGKILL
        for hours in (1, 2):
            assert _send_in_a_process(file, receiver.url, NOW + timedelta(hours=hours), dies=False) == 0
    assert [message["id"] for message in receiver.got] == ["1-raised", "1-raised"]
    assert [headers["Idempotency-Key"] for headers in receiver.headers] == ["1-raised", "1-raised"]


def test_the_log_is_a_channel(database: Database, caplog: pytest.LogCaptureFixture) -> None:
    book = AlertBook(database)
    courier = Courier(Outbox(database), Channels({}).send, lambda: NOW)
    book.reconcile(AlertKind.RULE, [trouble("x is broken", "x@1", message="3 rows are null")], NOW)
    courier.dispatch()
    courier.join(_SECONDS)
    assert [record.getMessage() for record in caplog.records] == ["alert raised: x is broken: 3 rows are null"]
