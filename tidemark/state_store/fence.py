"""What a writer of the center shows to be let in: the lease that it holds."""

from __future__ import annotations

from typing import NamedTuple


class Fence(NamedTuple):
    """The lease that a writer needs, and the fencing token and holder that it has it as; token 0 is nobody's.

    Both are compared: a database that was restored from an older copy gives the same token to somebody else.
    """

    lease: str
    fencing_token: int
    holder: str
