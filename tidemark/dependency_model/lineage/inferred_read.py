"""What is read of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidemark.dependency_model.lineage.stretches import stretches_of

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
    read that comes from the beginning, or goes on to the end of time: of these those up to the downstream's own window.
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
    return runs_of(stretches_of(sorted(slices)))


def runs_of(stretches: Iterable[range]) -> Runs:
    """Stretches as `Runs` has them."""
    return tuple((stretch.start, stretch.stop - 1) for stretch in stretches)
