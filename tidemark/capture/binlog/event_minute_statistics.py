"""What a topic's records of one minute have in common: few numbers, from which commits are planned."""

from typing import NamedTuple


class EventMinute(NamedTuple):
    """The records of one event minute (epoch ms) in one topic: the first one's offset, the newest one's time."""

    minute: int
    first_offset: int
    newest_ms: int
