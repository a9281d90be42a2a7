"""First seeds of chunks of random cases: the same ones each time, or others from TIDEMARK_TEST_SEED on."""

from __future__ import annotations

import os
from secrets import randbelow
from typing import Final

MANY: Final = 10_000
"""Cases that a long comparison with another system has, at least."""
SEED: Final = "TIDEMARK_TEST_SEED"
_SEEDS: Final = 10**9


def chunks(first: int, size: int, cases: int = MANY) -> range:
    """`size` seeds each, `cases` in all; `first` is the first one where nobody names another."""
    begin = int(os.environ.get(SEED, first))
    return range(begin, begin + cases, size)


def choose_fresh(markers: str) -> None:
    """Begin at a fresh seed where the long tests are asked for, unless the environment names one."""
    if markers.strip() == "long":
        os.environ.setdefault(SEED, str(randbelow(_SEEDS)))
