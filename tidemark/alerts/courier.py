"""Sends due messages with one thread for each channel, so that a slow receiver does not delay other channels."""

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
        """Starts sending all due messages and does not wait. Raises StateStoreDownError."""
        for channel in self._outbox.channels(self._clock()):
            with self._lock:
                if channel in self._busy:
                    continue
                thread = Thread(target=self._serve, args=(channel,), name=f"alerts to {channel}", daemon=True)
                self._busy[channel] = thread
            thread.start()

    def join(self, seconds: float) -> None:
        """Waits for active threads, at most `seconds` for each channel."""
        with self._lock:
            threads = list(self._busy.values())
        for thread in threads:
            thread.join(seconds)

    def _serve(self, channel: str) -> None:
        try:
            while self._deliver(channel):
                pass
        except TidemarkError as error:  # the store does not answer, or another center sends now: due messages stay
            _LOGGER.warning("alerts to %s wait: %s", channel, error)
        except Exception as error:  # noqa: BLE001 - the next call tries it again
            _LOGGER.warning("alerts to %s wait: unexpected %s", channel, type(error).__name__)
        finally:
            with self._lock:
                del self._busy[channel]

    def _deliver(self, channel: str) -> bool:
        """Sends the next message. Returns False without one or after a failure; later messages then wait, too."""
        delivery = self._outbox.next(channel, self._clock())
        if delivery is None:
            return False
        self._outbox.begin(delivery, self._clock())
        try:
            self._send(channel, delivery.message)
        except (ChannelError, ChannelSettingError) as error:
            self._outbox.fail(delivery, str(error))
            return False
        except Exception as error:  # noqa: BLE001 - a message that cannot be sent is given up after some attempts
            # The text may hold the address of the channel, which is secret.
            self._outbox.fail(delivery, f"unexpected {type(error).__name__}")
            return False
        crash_point("alerts.sent")
        self._outbox.end(delivery)
        return True
