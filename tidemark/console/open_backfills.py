"""Active backfills, and backfills that wait for a person, for `tidemark status`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.console.output import print_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.api.lake_status import OpenBackfillModel


def print_open_backfills(backfills: Sequence[OpenBackfillModel]) -> None:
    """Print one line for each backfill, and what a person has to do."""
    for told in backfills:
        print_line(f"backfill {told.number} is {told.phase}: {told.asked}, {told.open:,} slices to go")
        if told.asking:
            words = (
                f"{told.asking:,} of them wait for a person: tidemark backfills decide {told.number} --rebuild|--keep"
            )
            print_line(f"  {words}", "yellow")
