"""The inferred read of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidemark.dependency_model.lineage.stretches import stretches_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tidemark.dependency_model.offset.offset import Offset


Runs = tuple[tuple[int, int], ...]
"""Ranges of slices, first and last inclusive, in order, with gaps between them."""


@dataclass(frozen=True, slots=True)
class Read:
    """The offsets that together name the slices read, or why there are none. `where` is `file:line:column`.

    `evaluated` are the slices if no offset names them: (downstream slice, its upstream slices), at the business times
    where calendars are irregular. An offset stated in YAML must name them. `at_least` are such slices of a read without
    a first or last slice: the ones up to the downstream's own window.
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
    """Slices by downstream slice, in the form of `evaluated`."""
    return tuple((down, runs_of_slices(needed[down])) for down in sorted(needed))


def runs_of_slices(slices: Iterable[int]) -> Runs:
    """Slices in any order, as ranges."""
    return runs_of(stretches_of(sorted(slices)))


def runs_of(stretches: Iterable[range]) -> Runs:
    """Ranges in the form of `Runs`."""
    return tuple((stretch.start, stretch.stop - 1) for stretch in stretches)
