"""The lease that a writer of the center must hold."""

from __future__ import annotations

from typing import NamedTuple


class Fence(NamedTuple):
    """The lease that a writer needs, with its fencing token and holder; token 0 is never held.

    Both are compared: a database that was restored from an older copy gives the same token to another holder.
    """

    lease: str
    fencing_token: int
    holder: str
