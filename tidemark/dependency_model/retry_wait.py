"""The wait before a failed call is tried again: 2 seconds, then 4, 8, up to 15 minutes."""

from datetime import timedelta
from typing import Final

_FIRST: Final = timedelta(seconds=2)
_LONGEST: Final = timedelta(minutes=15)
_DOUBLED: Final = 20


def retry_wait(failures: int) -> timedelta:
    """The wait after a failure that `failures` other failures came before."""
    return min(_FIRST * (1 << min(failures, _DOUBLED)), _LONGEST)
