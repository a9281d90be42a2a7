"""A webhook and apprise on real sockets; an address is in no text that leaves, whatever goes wrong."""

from __future__ import annotations

import logging
import socket
from typing import TYPE_CHECKING

import pytest

from tests.alerts.receiver import receiving
from tests.alerts.test_alert_book import NOW, trouble
from tidemark.alerts.alert import Alert, AlertEvent, AlertKind, AlertMessage
from tidemark.alerts.alert_book import AlertBook
from tidemark.alerts.channels import Channels
from tidemark.alerts.courier import Courier
from tidemark.alerts.errors import ChannelError, ChannelSettingError
from tidemark.alerts.outbox import Outbox
from tidemark.state_store.database import Database
from tidemark.system.one_line import quiet

if TYPE_CHECKING:
    from pathlib import Path

CANARY = "c4nary"
ALERT = Alert(7, AlertKind.BASELINE, "ods@1 is late", "ods@1 is late: ads@1", ("ads@1",), NOW)
RAISED = AlertMessage.of(ALERT, AlertEvent.RAISED)


def send(address: str, message: AlertMessage = RAISED) -> None:
    Channels({"TIDEMARK_CHANNEL_ON_CALL": address}).send("on_call", message)


def test_a_webhook_gets_json() -> None:
    with receiving() as receiver:
        send(receiver.url.replace("//", "//user:pass%2Fword@"))
    assert receiver.got == [
        {
            "id": "7-raised",
            "event": "raised",
            "kind": "baseline",
            "cause": "ods@1 is late",
            "message": "ods@1 is late: ads@1",
            "slices": ["ads@1"],
            "raised_at": NOW.isoformat(),
            "recovered_at": None,
        }
    ]
    assert receiver.headers[0]["Content-Type"] == "application/json"
    assert receiver.headers[0]["Authorization"] == "Basic dXNlcjpwYXNzL3dvcmQ="


@pytest.mark.parametrize("status", [302, 404, 503])
def test_a_message_that_a_webhook_refuses_is_not_delivered(status: int) -> None:
    with receiving() as receiver:
        receiver.status = status
        with pytest.raises(ChannelError, match=f"it answered {status}"):
            send(receiver.url)
    assert len(receiver.got) == 1


def test_apprise_takes_the_rest() -> None:
    with receiving() as receiver:
        receiver.status = 200
        send(f"json://127.0.0.1:{receiver.port}/hook")
        receiver.status = 500
        with pytest.raises(ChannelError, match="did not accept"):
            send(f"json://127.0.0.1:{receiver.port}/hook")
    assert (receiver.got[0]["title"], receiver.got[0]["message"]) == (RAISED.title, RAISED.text)


def test_a_channel_without_an_address_says_which_variable() -> None:
    with pytest.raises(ChannelSettingError, match="TIDEMARK_CHANNEL_ON_CALL: the channel 'on_call' has no address"):
        send("")


def _closed_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


ADDRESSES = {
    "webhook": f"http://u:{CANARY}@127.0.0.1:PORT/{CANARY}?token={CANARY}",
    "refused": f"http://u:{CANARY}@127.0.0.1:OPEN/{CANARY}?token={CANARY}",
    "no port": f"https://u:{CANARY}@127.0.0.1:{CANARY}/x",
    "no host": f"https:///{CANARY}",
    "a blank": f"https://127.0.0.1:PORT/{CANARY} {CANARY}",
    "bare": CANARY,
    "misspelt": f"slak://{CANARY}/{CANARY}",
    "apprise": f"json://u:{CANARY}@127.0.0.1:PORT/{CANARY}",
    "apprise refused": f"json://u:{CANARY}@127.0.0.1:OPEN/{CANARY}",
    "mail": f"mailto://u:{CANARY}@127.0.0.1:PORT/?to={CANARY}@x.example&timeout=1",
}


@pytest.mark.parametrize("form", ADDRESSES)
def test_no_address_is_in_an_error_a_log_or_the_store(
    form: str, tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    database = Database.at(tmp_path / "state.db")
    AlertBook(database).reconcile(AlertKind.RULE, [trouble("x", "x@1", channels=["on_call"])], NOW)
    with receiving() as receiver:
        receiver.status = 500
        address = ADDRESSES[form].replace("PORT", str(_closed_port())).replace("OPEN", str(receiver.port))
        with pytest.raises((ChannelError, ChannelSettingError)) as raised:
            send(address)
        channels = Channels({"TIDEMARK_CHANNEL_ON_CALL": address})
        courier = Courier(Outbox(database), channels.send, lambda: NOW)
        courier.dispatch()
        courier.join(60)
    error: BaseException | None = raised.value
    while error is not None:
        assert CANARY not in repr(error) + str(error)
        error = None if error.__suppress_context__ else error.__context__
    (delivery,) = Outbox(database).of(AlertBook(database).open())
    assert (delivery.attempts, bool(delivery.problem)) == (1, True)
    database.close()
    assert not [path for path in tmp_path.iterdir() if CANARY.encode() in path.read_bytes()]
    assert CANARY not in caplog.text + "".join(capfd.readouterr())


HOSTILE = 'late\n{"event": "active", "fencing_token": 999}\x1b[2J <!channel> @here <http://evil|click>'


def test_text_of_others_is_one_line_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    alert = Alert(8, AlertKind.RULE, HOSTILE, HOSTILE, (), NOW)
    Channels({}).send("log", AlertMessage.of(alert, AlertEvent.RAISED))
    (message,) = caplog.messages
    assert message.isprintable()


def test_foreign_text_has_no_mentions_and_no_links() -> None:
    told = quiet(HOSTILE)
    assert not any(part in told for part in ("<", "@here", "://", "\x1b"))
    assert quiet("ods@2026-03-29 is late (3 < 4)\nsee the page") == "ods@2026-03-29 is late (3 \u2039 4)\nsee the page"
