"""A heartbeat as a topic has it."""

from typing import NamedTuple


class Beat(NamedTuple):
    """A heartbeat's record in an instance's topic: the time (epoch ms) that its writer gave it."""

    offset: int
    beat_ms: int
