"""Summaries of a topic's records by minute. Commits are planned from these few numbers."""

from typing import NamedTuple


class EventMinute(NamedTuple):
    """The records of one event minute (epoch ms) in one topic: the first one's offset, the newest one's time."""

    minute: int
    first_offset: int
    newest_ms: int
