"""The nearest known name, for errors that help."""

from __future__ import annotations

from difflib import get_close_matches
from heapq import nlargest
from itertools import takewhile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_TEXT_LIMIT = 64
_CANDIDATES = 200


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """A hint that names the nearest known name, or None if no name is similar.

    With more than 200 candidates, only the names that share the most letters at both ends are compared.
    """
    name = name[:_TEXT_LIMIT]
    candidates = [other for other in known if abs(len(other) - len(name)) <= len(name) // 2 + 1]
    if len(candidates) > _CANDIDATES:
        candidates = nlargest(_CANDIDATES, candidates, key=lambda other: _shared_ends(name, other))
    near = get_close_matches(name, candidates, n=1, cutoff=0.6)
    return f"did you mean '{near[0]}'?" if near else None


def quote_value(value: object) -> str:
    """The value for an error message: quoted, and shortened to 64 characters."""
    text = repr(value[: _TEXT_LIMIT + 1] if isinstance(value, str) else value)
    return text if len(text) <= _TEXT_LIMIT else f"{text[:_TEXT_LIMIT]}..."


def _shared_ends(name: str, other: str) -> int:
    return sum(
        sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(left, right, strict=False)))
        for left, right in ((name, other), (reversed(name), reversed(other)))
    )
