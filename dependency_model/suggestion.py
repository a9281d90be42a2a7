"""The nearest known name, for errors that help."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_TEXT_LIMIT = 64


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """A hint naming the nearest known name, or None where nothing is near."""
    near = get_close_matches(name[:_TEXT_LIMIT], list(known), n=1, cutoff=0.6)
    return f"did you mean '{near[0]}'?" if near else None


def shown(value: object) -> str:
    """A value as an error shows it: quoted and never longer than a line."""
    text = repr(value)
    return text if len(text) <= _TEXT_LIMIT else f"{text[:_TEXT_LIMIT]}..."
