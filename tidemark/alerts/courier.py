"""Sends what is due, a thread a channel: a receiver that is slow or dead keeps nobody else waiting."""

from __future__ import annotations

import logging
from threading import Lock, Thread
from typing import TYPE_CHECKING, Final

from tidemark.alerts.errors import ChannelError, ChannelSettingError
from tidemark.errors import TidemarkError
from tidemark.system.crash_points import crash_point

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from tidemark.alerts.alert import AlertMessage
    from tidemark.alerts.outbox import Outbox

    Send = Callable[[str, AlertMessage], None]

_LOGGER: Final = logging.getLogger("tidemark.alerts")


class Courier:
    """`send` takes a channel and a message, and raises ChannelError or ChannelSettingError."""

    def __init__(self, outbox: Outbox, send: Send, clock: Callable[[], datetime]) -> None:
        self._outbox, self._send, self._clock = outbox, send, clock
        self._lock, self._busy = Lock(), dict[str, Thread]()

    def dispatch(self) -> None:
        """Have everything sent that is due; does not wait for it. Raises StateStoreDownError."""
        for channel in self._outbox.channels(self._clock()):
            with self._lock:
                if channel in self._busy:
                    continue
                thread = Thread(target=self._serve, args=(channel,), name=f"alerts to {channel}", daemon=True)
                self._busy[channel] = thread
            thread.start()

    def join(self, seconds: float) -> None:
        """Wait for what is being sent, so long a channel."""
        with self._lock:
            threads = list(self._busy.values())
        for thread in threads:
            thread.join(seconds)

    def _serve(self, channel: str) -> None:
        try:
            while self._deliver(channel):
                pass
        except TidemarkError as error:  # the store does not answer, or another center sends now: what is due stays
            _LOGGER.warning("alerts to %s wait: %s", channel, error)
        finally:
            with self._lock:
                del self._busy[channel]

    def _deliver(self, channel: str) -> bool:
        """Whether a message was sent: after one that was not, the others wait, too."""
        delivery = self._outbox.next(channel, self._clock())
        if delivery is None:
            return False
        self._outbox.begin(delivery, self._clock())
        try:
            self._send(channel, delivery.message)
        except (ChannelError, ChannelSettingError) as error:
            self._outbox.fail(delivery, str(error))
            return False
        crash_point("alerts.sent")
        self._outbox.end(delivery)
        return True
