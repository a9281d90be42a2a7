"""Facts that detectors report, and their receipts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from tidemark.state_store.transition import NOTHING_TOLD, Facts

if TYPE_CHECKING:
    from datetime import datetime

    from tidemark.dependency_model.slice import Slice
    from tidemark.dependency_model.status import Event, SliceStatus
    from tidemark.errors import TidemarkError


CHANGED: Final = "changed"
"""The parameter of a completed run that brought the same content as before: false."""
SIZE_BYTES: Final = "size_bytes"
SECONDS: Final = "seconds"
"""Metrics of a completed run: what it wrote, and its duration."""


@dataclass(frozen=True, slots=True)
class Fact:
    """An observation about a slice.

    `event_id` is the reporter's own, and the same for repeated reports; `event_time` is aware. `generation` is the
    slice's, if known: facts of an earlier one are late and change nothing. `changed` says whether a backfill brought
    new content, `replaces` that data of another system replaced the old, `is_question` that a taint comes from
    `reprocess: ask`; `state` is the reached state, `before` the restored one.
    """

    event_id: str
    slice: Slice
    event: Event
    event_time: datetime
    who: str
    why: str = ""
    generation: int | None = None
    state: str | None = None
    changed: bool = True
    replaces: bool = False
    is_question: bool = False
    before: SliceStatus | None = None
    data: Facts = NOTHING_TOLD


@dataclass(slots=True)
class Receipt:
    """The result of reported facts, when it is durable.

    `new` changed something; `known` were reported before, are late, or are true already; `unexposed` are about unknown
    entities and not stored; `refused` are impossible.
    """

    new: int = 0
    known: int = 0
    unexposed: int = 0
    refused: list[tuple[Fact, TidemarkError]] = field(default_factory=list)
