"""Messages to a receiver, signed so that others' libraries would take them."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json

import pytest

from tests.alerts.receiver import receiving
from tests.refresh.world import BEGUN, refreshed_slice
from tidemark.refresh.adapters.webhook import Webhook
from tidemark.refresh.errors import TargetDownError, TargetRefusedError, TargetSettingError

REFRESHED = refreshed_slice("[{target: partner}]")


def test_a_message_says_which_slice_and_is_signed() -> None:
    """The signature as standardwebhooks.com defines it, over the bytes that were sent."""
    secret = base64.b64encode(b"twenty-four secret bytes").decode()
    with receiving() as receiver:
        Webhook("partner", receiver.url, f"whsec_{secret}", lambda: BEGUN).deliver(REFRESHED)
    (message,) = receiver.got
    headers = {name.lower(): value for name, value in receiver.headers[0].items()}
    assert message == {
        "id": "sales@2026-03-29/region=eu 7",
        "action": "refresh",
        "slice": "sales@2026-03-29/region=eu",
        "entity": "sales",
        "key": "2026-03-29",
        "part": {"region": "eu"},
        "generation": 2,
        "seq": 7,
    }
    assert headers["webhook-id"] == headers["idempotency-key"] == message["id"]
    assert headers["webhook-timestamp"] == str(int(BEGUN.timestamp()))
    body = json.dumps(message, separators=(", ", ": "), ensure_ascii=False)
    assert len(body) == int(headers["content-length"])
    signed = f"{message['id']}.{headers['webhook-timestamp']}.{body}".encode()
    digest = base64.b64encode(hmac.new(b"twenty-four secret bytes", signed, hashlib.sha256).digest()).decode()
    assert headers["webhook-signature"] == f"v1,{digest}"


def test_without_a_key_nothing_is_signed() -> None:
    with receiving() as receiver:
        Webhook("partner", receiver.url, "", lambda: BEGUN).deliver(REFRESHED)
    assert not [name for name in receiver.headers[0] if name.lower() == "webhook-signature"]


@pytest.mark.parametrize(
    ("status", "error"),
    [(302, TargetRefusedError), (404, TargetRefusedError), (429, TargetDownError), (503, TargetDownError)],
)
def test_refused_and_busy_deliveries(status: int, error: type[Exception]) -> None:
    """One that is busy is left alone for a while, one that refuses a slice gets the others."""
    with receiving() as receiver:
        receiver.status = status
        with pytest.raises(error, match=f"it answered {status}"):
            Webhook("partner", receiver.url, "", lambda: BEGUN).deliver(REFRESHED)
    assert len(receiver.got) == 1


def test_a_key_that_is_not_base64_is_refused_without_showing_it() -> None:
    with pytest.raises(TargetSettingError) as error:
        Webhook("partner", "https://host/", "whsec_not base64", lambda: BEGUN)
    assert "not base64" not in str(error.value)
