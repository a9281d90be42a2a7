"""The state that a readiness index asks to store, so that the next start need not process the past."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tidemark.dependency_model.slice import Slice


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """One part of the state: slices that wait without any event, and the schedules that were processed.

    `schedules` are texts by entity, empty without a schedule. Once the last part is stored, all slices with an earliest
    time up to `until` (seconds) are stored, and schedules go on from there.
    """

    until: int
    waiting: Sequence[Slice]
    schedules: Mapping[str, str]
    is_last: bool
