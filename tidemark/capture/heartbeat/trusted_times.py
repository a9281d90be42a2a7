"""Finds event times that a wrong server clock made, by the heartbeats around them.

One process writes all heartbeats, with its own time. So the records between two heartbeats were written between these
times, whatever the server's clock said. An event time after the next heartbeat's time is wrong, and must not end a day
that still goes on. Until the next heartbeat arrives, an event time is not confirmed.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter

from tidemark.capture.binlog.event_minute_statistics import EventMinute
from tidemark.capture.heartbeat.heartbeat_record import Beat

MINUTE_MS = 60_000
# Longer than the interval of heartbeats, and short enough that a snapshot is not noticeably wrong.
TOLERANCE_MS = 2 * MINUTE_MS


@dataclass(frozen=True)
class Trusted:
    """The minutes at which commits may be cut.

    They are confirmed up to offset `sure_until`, None without heartbeats.
    """

    marks: Sequence[EventMinute]
    sure_until: int | None


def trust_times(
    marks: Iterable[EventMinute], beats: Iterable[Beat], tolerance_ms: int = TOLERANCE_MS, *, beaten: bool = False
) -> Trusted:
    """`marks` without minutes that the next heartbeat disproves, and the heartbeats' own minutes.

    If no heartbeat with a time ever came, the marks stay unchanged. If some came before (`beaten`), nothing is
    confirmed until the next heartbeat.
    """
    forward = _forward(beats)
    if not forward:
        return Trusted(tuple(marks), 0 if beaten else None)
    kept = [mark for mark in marks if not _is_disproved(mark, forward, tolerance_ms)]
    own = [EventMinute(beat.beat_ms // MINUTE_MS * MINUTE_MS, beat.offset, beat.beat_ms) for beat in forward]
    return Trusted((*kept, *own), forward[-1].offset + 1)


def _forward(beats: Iterable[Beat]) -> list[Beat]:
    """The heartbeats in order, without redelivered ones."""
    kept: list[Beat] = []
    for beat in sorted(beats):
        if not kept or beat.beat_ms >= kept[-1].beat_ms:
            kept.append(beat)
    return kept


def _is_disproved(mark: EventMinute, beats: Sequence[Beat], tolerance_ms: int) -> bool:
    following = bisect_left(beats, mark.first_offset, key=attrgetter("offset"))
    return following < len(beats) and mark.minute > beats[following].beat_ms + tolerance_ms
