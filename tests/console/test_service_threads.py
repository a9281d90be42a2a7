"""A service of several threads ends when one of them does."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from tests.until import until
from tidemark.console.service_beat import ServiceBeat
from tidemark.console.service_threads import serve_in_threads

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_a_failed_thread_ends_the_others_and_is_reported(tmp_path: Path) -> None:
    begun, ended = threading.Event(), threading.Event()

    def dies(_goes_on: Callable[[], bool]) -> None:
        begun.wait()
        raise RuntimeError("no work")

    def goes_on_and_on(goes_on: Callable[[], bool]) -> None:
        begun.set()
        until(lambda: not goes_on())
        ended.set()

    with pytest.raises(RuntimeError, match="no work"):
        serve_in_threads([goes_on_and_on, dies], ServiceBeat(tmp_path, "refresh"))
    assert ended.is_set()
