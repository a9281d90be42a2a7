"""What a writer of the center shows to be let in: the lease that it holds."""

from __future__ import annotations

from typing import NamedTuple


class Fence(NamedTuple):
    """The lease that a writer needs, and the generation and holder that it has it as; generation 0 is nobody's.

    Both are compared: a database that was restored from an older copy gives the same generation to somebody else.
    """

    lease: str
    generation: int
    holder: str
