"""Progress of one member of the distribution, printed every few seconds."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidemark.capture.distribution.service import Done

_EVERY_SECONDS: Final = 5.0


class Progress:
    """Times are monotonic seconds; `members` returns the number of processes that share the work."""

    def __init__(self, say: Callable[[str], None], members: Callable[[], int | None], begun: float) -> None:
        self._say = say
        self._members = members
        self._told_at = begun
        self._told: Done | None = None

    def tell(self, done: Done, now: float) -> bool:
        """Print news if it is time to; always true, so that it can be used in a condition."""
        if done.sessions_lost and (self._told is None or done.sessions_lost > self._told.sessions_lost):
            self._say(f"Continues after its last transaction: {done.lost_because}")
            self._told = replace(done, messages=self._told.messages if self._told else 0)
        if now - self._told_at >= _EVERY_SECONDS:
            self._say(self._line(done, now))
            self._told, self._told_at = replace(done), now
        return True

    def _line(self, done: Done, now: float) -> str:
        before = self._told.messages if self._told else 0
        rate = (done.messages - before) / (now - self._told_at)
        members = self._members()
        line = f"{rate:,.0f} messages/s, lag {done.lag:,}, instances here {done.sources}, "
        line += f"members {'?' if members is None else members}"
        return line + (f", unreadable {done.unreadable:,}" if done.unreadable else "")
