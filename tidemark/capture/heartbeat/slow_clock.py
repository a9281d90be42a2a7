"""Spans of offsets in which a server's clock is slow. An event dated before midnight may have happened after it.

A heartbeat's record has two times of one moment, the writer's and the server's. While the last heartbeat shows a slow
server, an event that looks late may be of today. No snapshot is restated for it.
"""

from collections.abc import Iterable, Sequence

from tidemark.capture.heartbeat.heartbeat_record import Beat
from tidemark.capture.heartbeat.trusted_times import TOLERANCE_MS

Spans = Sequence[tuple[int, int | None]]
"""Offsets `[start, end)` in order; end None means up to the last offset."""


def slow_spans(beats: Iterable[Beat], before: bool, tolerance_ms: int = TOLERANCE_MS) -> Spans:  # noqa: FBT001 - a state
    """The spans in which the instance's clock is slow; `before` says whether the heartbeat before these showed that."""
    spans: list[tuple[int, int | None]] = []
    start = 0 if before else None
    for beat in sorted(beats):
        slow = is_slow(beat, tolerance_ms)
        if slow and start is None:
            start = beat.offset
        elif not slow and start is not None:
            spans.append((start, beat.offset))
            start = None
    return spans if start is None else [*spans, (start, None)]


def is_slow(beat: Beat, tolerance_ms: int = TOLERANCE_MS) -> bool:
    """Whether the server's clock is behind the writer's by more than the tolerance."""
    return beat.server_ms is not None and beat.beat_ms - beat.server_ms > tolerance_ms
