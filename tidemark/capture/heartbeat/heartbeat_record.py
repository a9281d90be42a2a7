"""A heartbeat as a topic has it."""

from typing import Final, NamedTuple

# The heartbeat's table in each instance, and its column in which the writer puts the time.
TABLE: Final = "heartbeat"
COLUMN: Final = "beat_at"
# The writer leaves it NULL, and its DEFAULT is another value: a connector that sends that one sends no NULL as it is.
NULL_COLUMN: Final = "always_null"


class Beat(NamedTuple):
    """A heartbeat's record in an instance's topic: the time (epoch ms) that its writer gave it.

    `server_ms` is the same moment by the server's own clock, None where nobody asked.
    """

    offset: int
    beat_ms: int
    server_ms: int | None = None
