"""Checksums that change whenever the content does."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def content_of(parts: Iterable[object]) -> str:
    """The checksum of parts, in any order."""
    return hashlib.sha256("\n".join(sorted(map(repr, parts))).encode()).hexdigest()[:32]
