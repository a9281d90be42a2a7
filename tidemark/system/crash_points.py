"""Named points where a test can let this process die as by `kill -9`.

`TIDEMARK_CRASH_AT=ingest.after_commit` kills at the first pass of that point, `ingest.after_commit:3` at the third.
Without the variable, a point costs one dictionary look-up.
"""

import os
import signal
from collections import Counter

ENV_NAME = "TIDEMARK_CRASH_AT"

_passed: Counter[str] = Counter()


def crash_point(name: str) -> None:
    """Kill this process with SIGKILL, without cleanup or flush, if the environment requests it at this point."""
    wanted = os.environ.get(ENV_NAME)
    if not wanted:
        return
    point, _, count = wanted.partition(":")
    if point != name:
        return
    _passed[name] += 1
    if _passed[name] >= int(count or "1"):
        os.kill(os.getpid(), signal.SIGKILL)
