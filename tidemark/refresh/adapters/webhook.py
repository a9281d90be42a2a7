"""A message to any HTTP receiver. With a key it is signed as Standard Webhooks (standardwebhooks.com) specifies."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from typing import TYPE_CHECKING

from tidemark.refresh.errors import TargetDownError, TargetRefusedError, TargetSettingError
from tidemark.strict_json import json_text
from tidemark.system.web_request import send

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from tidemark.refresh.refreshed_slice import RefreshedSlice

_ENCODED = "whsec_"


class Webhook:
    """Without a `key` messages are unsigned. A repeated message has the same id."""

    def __init__(self, target: str, address: str, key: str, clock: Callable[[], datetime]) -> None:
        self._target, self._address, self._clock = target, address, clock
        self._key = _key(target, key)

    def deliver(self, refreshed: RefreshedSlice) -> None:
        """See RefreshAdapter."""
        slice_, standing = refreshed.slice, refreshed.standing
        message = {
            "id": f"{slice_} {standing.seq}",
            "action": standing.action.value,
            "slice": str(slice_),
            "entity": slice_.entity,
            "key": slice_.key,
            "part": dict(slice_.sub),
            "generation": standing.generation,
            "seq": standing.seq,
        }
        body = json_text(message)
        headers = {"Content-Type": "application/json", "Idempotency-Key": str(message["id"])}
        try:
            answer = send("POST", self._address, {**headers, **self._signed(str(message["id"]), body)}, body.encode())
        except ValueError:
            raise TargetSettingError.of(self._target, "https://host/path") from None
        if answer.is_busy:
            raise TargetDownError.of(self._target, answer.found)
        if not answer.is_taken:
            raise TargetRefusedError.of(self._target, answer.found)

    def _signed(self, message_id: str, body: str) -> dict[str, str]:
        timestamp = str(int(self._clock().timestamp()))
        told = {"webhook-id": message_id, "webhook-timestamp": timestamp}
        if not self._key:
            return told
        digest = hmac.digest(self._key, f"{message_id}.{timestamp}.{body}".encode(), hashlib.sha256)
        return {**told, "webhook-signature": f"v1,{base64.b64encode(digest).decode()}"}


def _key(target: str, key: str) -> bytes:
    if not key.startswith(_ENCODED):
        return key.encode()
    try:
        return base64.b64decode(key.removeprefix(_ENCODED), validate=True)
    except binascii.Error:
        raise TargetSettingError.of(target, "a signing key: a text, or whsec_ and base64") from None
