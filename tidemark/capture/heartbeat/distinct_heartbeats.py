from collections.abc import Iterable, Mapping, Sequence

from tidemark.capture.binlog.continuity import Again
from tidemark.capture.binlog.position import Position
from tidemark.capture.heartbeat.heartbeat_record import Beat

Placed = tuple[Beat, Position | None]


def beats_once(beats: Mapping[str, Sequence[Placed]], again: Mapping[str, Sequence[Again]]) -> dict[str, list[Beat]]:
    """The heartbeats of each instance that were not read before, in order."""
    return {
        instance: sorted(beat for beat, at in instance_beats if not _is_again(beat, at, again.get(instance, ())))
        for instance, instance_beats in beats.items()
    }


def _is_again(beat: Beat, at: Position | None, again: Iterable[Again]) -> bool:
    return at is not None and any(skipped.holds(beat.offset, at) for skipped in again)
