"""The time zones of Spark's sessions, which must be the same in analysis and in runs."""

import re
from typing import Final

SPARK_TIME_ZONE: Final = "UTC"
"""The zone of the process's session, in which tables are captured and maintained. Queries and rules use their entity's.
"""
_FIXED: Final = re.compile(r"UTC([+-])(\d{1,2})(?::(\d\d))?")


def spark_zone(time_zone: str) -> str:
    """An entity's time zone in the form of Spark, Java and Arrow: `+08:00` for `UTC+8`."""
    fixed = _FIXED.fullmatch(time_zone)
    return f"{fixed[1]}{int(fixed[2]):02}:{fixed[3] or '00'}" if fixed else time_zone
