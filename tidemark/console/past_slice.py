"""Prints a slice at a past time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.console.output import print_line, print_table

if TYPE_CHECKING:
    from tidemark.catalog.slice_as_of import SliceAsOf


def print_as_of(told: SliceAsOf) -> None:
    """Print the slice's state and its inputs; instants are in UTC."""
    when = told.when.isoformat(sep=" ", timespec="seconds")
    if told.status is None:
        print_line(f"{told.slice}: it had no events until {when}", "bold")
        return
    flaws = {"tainted": told.status.tainted, "invalid": bool(told.status.issues)}
    words = ", ".join([told.status.run_state.value, *(name for name, holds in flaws.items() if holds)])
    print_line(f"{told.slice} was {words} at {when}, generation {told.status.generation}", "bold")
    if told.written:
        run = (
            f" by run {told.written.facts.run_id}" if told.written.facts.run_id else f", reported by {told.written.who}"
        )
        version = f", table version {told.written.facts.snapshot_id}" if told.written.facts.snapshot_id else ""
        print_line(f"  computed {told.written.event_time.isoformat(sep=' ', timespec='seconds')}{run}{version}")
    if told.read is None:
        print_line("  its inputs were not recorded")
    else:
        rows = [[f"  {used.slice}", str(used.generation), used.version] for used in told.read]
        print_table(["  it had read", "generation", "table version"], rows)
