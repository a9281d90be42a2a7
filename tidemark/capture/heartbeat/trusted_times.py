"""Event times that a server's wrong clock made, found by the heartbeats between them.

All heartbeats are written by one process and carry its time, so the records between two of them were written between
those times, whatever the server's clock said. An event time that runs ahead of the next heartbeat is wrong; it must not
close a day that goes on. Until the next heartbeat has come, nobody knows.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter

from tidemark.capture.binlog.event_minute_statistics import EventMinute
from tidemark.capture.heartbeat.heartbeat_record import Beat

MINUTE_MS = 60_000
# Longer than heartbeats lie apart, shorter than what makes a snapshot wrong by more than its lateness.
TOLERANCE_MS = 2 * MINUTE_MS


@dataclass(frozen=True)
class Trusted:
    """Marks that may be cut at, and the offset up to which they are confirmed; None where there are no heartbeats."""

    marks: Sequence[EventMinute]
    sure_until: int | None


def trust_times(
    marks: Iterable[EventMinute], beats: Iterable[Beat], tolerance_ms: int = TOLERANCE_MS, *, beaten: bool = False
) -> Trusted:
    """`marks` without those that the next heartbeat disproves, and the heartbeats' own.

    Where no heartbeat that carries a time ever came there is nothing to compare with: the marks stay as they are. Where
    some had come before (`beaten`), nothing is confirmed until the next one.
    """
    forward = _forward(beats)
    if not forward:
        return Trusted(tuple(marks), 0 if beaten else None)
    kept = [mark for mark in marks if not _is_disproved(mark, forward, tolerance_ms)]
    own = [EventMinute(beat.beat_ms // MINUTE_MS * MINUTE_MS, beat.offset, beat.beat_ms) for beat in forward]
    return Trusted((*kept, *own), forward[-1].offset + 1)


def _forward(beats: Iterable[Beat]) -> list[Beat]:
    """In order, without the redelivered ones."""
    kept: list[Beat] = []
    for beat in sorted(beats):
        if not kept or beat.beat_ms >= kept[-1].beat_ms:
            kept.append(beat)
    return kept


def _is_disproved(mark: EventMinute, beats: Sequence[Beat], tolerance_ms: int) -> bool:
    following = bisect_left(beats, mark.first_offset, key=attrgetter("offset"))
    return following < len(beats) and mark.minute > beats[following].beat_ms + tolerance_ms
