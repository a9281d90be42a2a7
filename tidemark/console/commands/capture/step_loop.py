"""The loop of `tidemark capture run`: an error in a step is printed, and the next step tries again."""

from __future__ import annotations

import logging
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, Self

from py4j.protocol import Py4JNetworkError

from tidemark.console.output import print_line
from tidemark.errors import TidemarkError, TransientError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tidemark.capture.operations.ingestion_report import IngestReport

_WATCH_SECONDS: Final = 0.2
_LOG: Final = logging.getLogger(__name__)


class SparkGoneError(TransientError):
    """Spark's JVM ended; the process must be started again."""

    @classmethod
    def of(cls, error: BaseException) -> Self:
        return cls(
            "Spark ended during a step of the capture",
            found=f"{type(error).__name__}: {error}",
            hint="start the service again: it continues after the last commit; if memory ran out, raise "
            "TIDEMARK_SPARK_MEMORY",
        )


def serve(
    step: Callable[[], IngestReport],
    every_seconds: float,
    say: Callable[[IngestReport], None],
    stopped: Callable[[], bool],
    beat: Callable[[], None] = lambda: None,
) -> None:
    """Run steps until `stopped`; call `beat` between them. Raises only SparkGoneError."""
    due = time.monotonic()
    while not stopped():
        beat()
        if time.monotonic() < due:
            time.sleep(_WATCH_SECONDS)
            continue
        begun = time.monotonic()
        due = begun + _pause_after(step, every_seconds, say)


def _pause_after(step: Callable[[], IngestReport], every_seconds: float, say: Callable[[IngestReport], None]) -> float:
    try:
        report = step()
        say(report)
    except TidemarkError as error:
        print_line(f"trying again in {every_seconds:.0f} s: {error}", "yellow")
        return every_seconds
    except (Py4JNetworkError, ConnectionError) as error:
        raise SparkGoneError.of(error) from error
    except Exception as error:  # noqa: BLE001 - the boundary of a step: the service goes on whatever it was
        _LOG.exception("a step of the capture failed")
        said = f"{type(error).__name__}: {next(iter(str(error).splitlines()), '')[:300]}"
        print_line(f"trying again in {every_seconds:.0f} s: a step failed unexpectedly: {said}", "yellow")
        return every_seconds
    return seconds_to_next((boundary.end for boundary in report.waiting), datetime.now(UTC), every_seconds)


SOON_SECONDS: Final = 10.0
"""Time between two passes while a slice that has ended waits for its tag."""


def seconds_to_next(ends: Iterable[datetime], now: datetime, every_seconds: float) -> float:
    """Seconds until the next pass; `ends` are the ends of slices that wait for their tags.

    The usual interval; less if a slice ends within it, and short if one has ended, because its last records arrive now.
    """
    left = min(((end - now).total_seconds() for end in ends), default=every_seconds)
    return min(every_seconds, SOON_SECONDS if left <= 0 else left)
