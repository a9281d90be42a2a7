"""What a readiness index asks to have written down, so that the next one need not go through the past."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tidemark.dependency_model.slice import Slice


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """One part of it: these slices wait, though nothing has happened to them; of this the schedules were made.

    `schedules` are texts by entity, the empty one where there is no schedule. Once the last part is written down, all
    slices whose time came by `until` (seconds) are known, and schedules go on from there.
    """

    until: int
    waiting: Sequence[Slice]
    schedules: Mapping[str, str]
    is_last: bool
