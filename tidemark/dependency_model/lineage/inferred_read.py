"""What is read of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tidemark.dependency_model.offset.offset import Offset


Runs = tuple[tuple[int, int], ...]
"""Stretches of slices, first and last inclusive, in order and apart from each other."""


@dataclass(frozen=True, slots=True)
class Read:
    """Offsets whose slices together are what is read, or why they cannot be told. `where` is `file:line:column`.

    `evaluated` are the slices themselves where no offset names them: (downstream slice, its upstream slices), at the
    business times where calendars are odd. An offset that YAML states has to name them. `at_least` are such slices of a
    read that goes on to the end of time: those up to the downstream's own window.
    """

    table: str
    where: str
    offsets: tuple[Offset, ...] = ()
    undecidable: str = ""
    evaluated: tuple[tuple[int, Runs], ...] = ()
    at_least: tuple[tuple[int, Runs], ...] = ()

    def __str__(self) -> str:
        return f"undecidable: {self.undecidable}" if self.undecidable else " and ".join(map(str, self.offsets))


def runs_by_time(needed: Mapping[int, Iterable[int]]) -> tuple[tuple[int, Runs], ...]:
    """Slices by downstream slice, as `evaluated` has them."""
    return tuple((down, runs_of_slices(needed[down])) for down in sorted(needed))


def runs_of_slices(slices: Iterable[int]) -> Runs:
    """Slices in any order as stretches."""
    runs: list[tuple[int, int]] = []
    for slice_ in sorted(slices):
        if runs and runs[-1][1] == slice_ - 1:
            runs[-1] = (runs[-1][0], slice_)
        else:
            runs.append((slice_, slice_))
    return tuple(runs)
