"""How a slice stood at a past instant, and which slices it had been computed from then, at which versions.

Everything is from the transitions recorded by then, read by the slice's own index: however many others there are. Of
what is older than `history_days` the last transition of a slice stays, and with it how it stood, but not what it read.
Source: seed capability D8 (exact status at any past time).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tidemark.console.output import print_line, print_table
from tidemark.dependency_model.status import Event

if TYPE_CHECKING:
    from datetime import datetime

    from tidemark.dependency_model.readiness.slice_manifest import UsedSlice
    from tidemark.dependency_model.slice import Slice
    from tidemark.dependency_model.status import SliceStatus
    from tidemark.state_store.store import StateStore
    from tidemark.state_store.transition import Transition

_WRITTEN: Final = frozenset({Event.REACHED, Event.COMPLETED, Event.BACKFILLED, Event.OBSERVED})
_ASKED_FOR: Final = frozenset({Event.LAUNCHED, Event.FORCED})


@dataclass(frozen=True, slots=True)
class SliceAsOf:
    """`status` is None where nothing had happened by `when` (aware); `written` is the last time that it was computed.

    `read` is what that run opened; None where nobody told it.
    """

    slice: Slice
    when: datetime
    status: SliceStatus | None
    written: Transition | None
    read: tuple[UsedSlice, ...] | None

    def as_data(self) -> dict[str, Any]:
        """The same for programs."""
        status, written = self.status, self.written
        reads = None
        if self.read is not None:
            reads = [
                {"slice": str(used.slice), "generation": used.generation, "version": used.version or None}
                for used in self.read
            ]
        return {
            "slice": str(self.slice),
            "as_of": self.when.isoformat(),
            "run_state": status.run_state.value if status else None,
            "states": sorted(status.states) if status else [],
            "valid": bool(status and status.valid),
            "tainted": bool(status and status.tainted),
            "generation": status.generation if status else None,
            "completed_at": written.event_time.isoformat() if written else None,
            "who": written.who if written else None,
            "run_id": written.facts.run_id if written else None,
            "version": written.facts.snapshot_id if written else None,
            "read": reads,
        }


def slice_as_of(store: StateStore, slice_: Slice, when: datetime) -> SliceAsOf:
    """The slice as it was recorded at an aware instant. Raises StateStoreDownError."""
    history = [step for step in store.read.history(slice_) if step.record_time <= when]
    written = next((step for step in reversed(history) if step.event in _WRITTEN), None)
    return SliceAsOf(slice_, when, history[-1].status if history else None, written, _read(history, written))


def _read(history: list[Transition], written: Transition | None) -> tuple[UsedSlice, ...] | None:
    """What the run opened that had been asked for last before the slice was written."""
    asked = [step for step in history if written and step.seq < written.seq and step.event in _ASKED_FOR]
    manifest = asked[-1].facts.manifest if asked else None
    return tuple(used for those in manifest.used_slices.values() for used in those) if manifest else None


def print_as_of(told: SliceAsOf) -> None:
    """The same for people; instants in UTC."""
    when = told.when.isoformat(sep=" ", timespec="seconds")
    if told.status is None:
        print_line(f"{told.slice}: nothing had happened to it by {when}", "bold")
        return
    flaws = {"tainted": told.status.tainted, "invalid": bool(told.status.issues)}
    words = ", ".join([told.status.run_state.value, *(name for name, holds in flaws.items() if holds)])
    print_line(f"{told.slice} was {words} at {when}, generation {told.status.generation}", "bold")
    if told.written:
        run = f" by run {told.written.facts.run_id}" if told.written.facts.run_id else f", told by {told.written.who}"
        version = f", table version {told.written.facts.snapshot_id}" if told.written.facts.snapshot_id else ""
        print_line(f"  computed {told.written.event_time.isoformat(sep=' ', timespec='seconds')}{run}{version}")
    if told.read is None:
        print_line("  nobody told what it had read")
    else:
        rows = [[f"  {used.slice}", str(used.generation), used.version] for used in told.read]
        print_table(["  it had read", "generation", "table version"], rows)
