"""Sub-partitions as options of a command: `--part region=cn`, repeated."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Sequence


def parts_of(parts: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """The dimensions in order of their names. Raises BadParameter."""
    pairs = [part.partition("=") for part in parts]
    if any(not equals for _, equals, _ in pairs):
        raise click.BadParameter("expected DIMENSION=VALUE", param_hint="--part")
    return tuple(sorted((dimension, value) for dimension, _, value in pairs))
