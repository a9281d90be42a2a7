"""What detectors report, and what becomes of it."""

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
"""The parameter of a completed run that is kept where it brought the content that was there before: false."""
SIZE_BYTES: Final = "size_bytes"
SECONDS: Final = "seconds"
"""What a run wrote and how long it took, among the parameters of a completed one."""


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that somebody saw of a slice.

    `event_id` is the reporter's own and the same whenever he reports it again; `event_time` is aware. `generation` is
    that of the slice where the reporter knows it: what is of an earlier one is late and changes nothing. `changed` says
    whether a backfill brought other content, `replaces` that data of another system is there in
    place of what was, `is_question` that a taint is one of `reprocess: ask`; `state` is the one that was reached,
    `before` what is restored.
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
    """What became of reported facts, once it is durable.

    `new` changed something; `known` were reported before, are late, or say what is so already; `unexposed` are about
    entities that the graph does not have, and are not stored; `refused` are facts that cannot be so.
    """

    new: int = 0
    known: int = 0
    unexposed: int = 0
    refused: list[tuple[Fact, TidemarkError]] = field(default_factory=list)
