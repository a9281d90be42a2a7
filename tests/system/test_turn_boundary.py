"""A background loop outlives whatever one of its turns raises, and says it once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tidemark.errors import TransientError
from tidemark.system.turn_boundary import TurnBoundary

if TYPE_CHECKING:
    from collections.abc import Callable


def raising(error: Exception) -> Callable[[], None]:
    def turn() -> None:
        raise error

    return turn


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (TransientError("no answer"), "the lease is not renewed: no answer"),
        (KeyError("x"), "the lease is not renewed: unexpected KeyError: 'x'"),
    ],
)
def test_an_error_is_logged_once_until_a_turn_succeeds(
    error: Exception, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    boundary = TurnBoundary("the lease is not renewed")
    assert [boundary.run(raising(error)) for _ in range(3)] == [False] * 3
    assert boundary.run(lambda: None)
    assert not boundary.run(raising(error))
    assert caplog.messages == [text, text]


def test_errors_that_end_the_process_pass() -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        TurnBoundary("it waits").run(interrupted)
