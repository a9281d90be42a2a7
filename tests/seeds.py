"""First seeds of chunks of random cases: the same ones each time, or fresh ones from TIDEMARK_TEST_SEED on."""

from __future__ import annotations

import os

MANY = 10_000
"""Cases that a long comparison with another system has, at least."""


def chunks(first: int, size: int, cases: int = MANY) -> range:
    """`size` seeds each, `cases` in all; `first` is the first one where nobody names another."""
    begin = int(os.environ.get("TIDEMARK_TEST_SEED", first))
    return range(begin, begin + cases, size)
