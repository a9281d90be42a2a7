"""Prints slices that are older than their query."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.console.output import print_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def print_outdated(outdated: Mapping[str, Sequence[str]]) -> None:
    """One line for each entity, with the command that computes them again."""
    for name, keys in outdated.items():
        if keys:
            ends = keys[0] if len(keys) == 1 else f"{keys[0]} .. {keys[-1]}"
            print_line(
                f"{name}: {len(keys)} slices are older than its query ({ends}); `tidemark apply` computes them again",
                "yellow",
            )
