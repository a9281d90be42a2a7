"""Sends a message: to the log, as JSON to a webhook, or by apprise to chats, mail and other services.

A channel is a name. Its address is only in an environment variable and is never part of a text.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from tidemark.alerts.alert import AlertEvent
from tidemark.alerts.errors import ChannelError, ChannelSettingError
from tidemark.dependency_model.entity.field_types import LOG_CHANNEL
from tidemark.strict_json import json_text
from tidemark.system.one_line import one_line, quiet
from tidemark.system.web_request import send

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.alerts.alert import AlertMessage

PREFIX: Final = "TIDEMARK_CHANNEL_"
_LONGEST_LINE: Final = 4_000
_WEBHOOKS: Final = ("http", "https")
_LOGGER: Final = logging.getLogger("tidemark.alerts")


class Channels:
    """The channels of one process; `env` has their addresses."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = env

    def send(self, channel: str, message: AlertMessage) -> None:
        """Returns once the receiver has taken it. Raises ChannelError and ChannelSettingError, without the address."""
        if channel == LOG_CHANNEL:
            level = logging.ERROR if message.event is AlertEvent.RAISED else logging.WARNING
            _LOGGER.log(level, "alert %s: %s", one_line(message.title), one_line(message.text, _LONGEST_LINE))
            return
        address = self._address(channel)
        if address.partition("://")[0].lower() in _WEBHOOKS:
            _post(channel, address, message)
        else:
            _notify(channel, address, message)

    def _address(self, channel: str) -> str:
        variable = PREFIX + channel.upper()
        address = self._env.get(variable, "").strip()
        if not address:
            raise ChannelSettingError(
                f"the channel '{channel}' has no address",
                expected="https://..., or an apprise address: slack://..., mailto://..., ntfy://...",
                where=variable,
                hint=f"set {variable} for the center and for Dagster's code location",
            )
        return address


def _post(channel: str, address: str, message: AlertMessage) -> None:
    headers = {"Content-Type": "application/json", "Idempotency-Key": message.id}
    try:
        answer = send("POST", address, headers, json_text(message.as_data()).encode())
    except ValueError:
        raise ChannelSettingError("the channel's address is not a URL", where=PREFIX + channel.upper()) from None
    if not answer.is_taken:
        raise _refusal(channel, answer.found)


def _notify(channel: str, address: str, message: AlertMessage) -> None:
    import apprise  # noqa: PLC0415 - the import takes half a second

    _silence_logs()
    kind = apprise.NotifyType.FAILURE if message.event is AlertEvent.RAISED else apprise.NotifyType.SUCCESS
    try:
        service = apprise.Apprise()
        is_known = service.add(address)
        is_taken = is_known and bool(service.notify(quiet(message.text), quiet(message.title), kind))
    except Exception as error:  # noqa: BLE001 - a hundred services, and their texts may hold the address
        raise _refusal(channel, type(error).__name__) from None
    if not is_known:
        raise ChannelSettingError(
            f"the address of the channel '{channel}' is not valid",
            expected="https://..., or an apprise address: slack://..., mailto://..., ntfy://...",
            where=PREFIX + channel.upper(),
        )
    if not is_taken:
        raise _refusal(channel, "the service did not accept it")


def _silence_logs() -> None:
    """Logs of apprise, and of its client at DEBUG, may contain addresses."""
    logging.getLogger("apprise").disabled = True
    client = logging.getLogger("urllib3")
    client.setLevel(max(client.level, logging.INFO))


def _refusal(channel: str, answer: str) -> ChannelError:
    return ChannelError(
        f"the channel '{channel}' did not accept the message", found=answer, where=PREFIX + channel.upper()
    )
