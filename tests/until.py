"""The one way of tests to wait: for a state, never for a time."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

GUARD_SECONDS: Final = 600.0
"""A guard against hanging, not a measure: a machine with other work on it is several times slower."""
_Value = TypeVar("_Value")


def until(
    holds: Callable[[], _Value],
    what: str | Callable[[], object] = "what was waited for",
    seconds: float = GUARD_SECONDS,
    pause: float = 0.02,
) -> _Value:
    """The first true value; what can no longer come about, `holds` says by an AssertionError of its own."""
    deadline = time.monotonic() + seconds
    while not (value := holds()):
        assert time.monotonic() < deadline, f"waited too long: not {what if isinstance(what, str) else what()}"
        time.sleep(pause)
    return value
