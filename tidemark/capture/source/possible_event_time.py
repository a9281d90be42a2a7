"""The range of times in a binlog."""

from typing import Final

from pyspark.sql import Column

# An event's header has seconds since 1970 in four bytes.
END_MS: Final = 2**32 * 1000


def is_event_time(epoch_ms: Column) -> Column:
    """Whether a binlog can have an event of that time: 1970 to 2106."""
    return (epoch_ms >= 0) & (epoch_ms < END_MS)
