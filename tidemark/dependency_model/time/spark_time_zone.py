"""The time zones of Spark's sessions, which what is analysed and what runs have to agree on."""

import re
from typing import Final

SPARK_TIME_ZONE: Final = "UTC"
"""Of the process's session, by which tables are captured and maintained. Queries and rules go by their entity's."""
_FIXED: Final = re.compile(r"UTC([+-])(\d{1,2})(?::(\d\d))?")


def spark_zone(time_zone: str) -> str:
    """An entity's time zone as Spark, Java and Arrow write it: `+08:00` for `UTC+8`."""
    fixed = _FIXED.fullmatch(time_zone)
    return f"{fixed[1]}{int(fixed[2]):02}:{fixed[3] or '00'}" if fixed else time_zone
