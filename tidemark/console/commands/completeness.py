"""`tidemark completeness`: the counted records of a slice, and the slots with missing records."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from tidemark.console.entity_argument import entity_argument
from tidemark.console.exit_codes import ExitCode
from tidemark.console.output import json_option, print_json, print_line, print_table
from tidemark.console.part_options import parts_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.crawl.probes.counted_records import CountedWindow
    from tidemark.dependency_model.completeness.slot import Slot
    from tidemark.dependency_model.slice import Slice

_SHOWN = 20


@click.command()
@entity_argument()
@click.argument("slice_key", metavar="SLICE")
@click.option("--part", "parts", multiple=True, metavar="DIMENSION=VALUE", help="One sub-partition; may be repeated.")
@json_option
def completeness(entity: str, slice_key: str, *, parts: Sequence[str], as_json: bool) -> None:
    """Show how many records of a slice the source and the lake have, and the slots with missing records.

    The entity needs `probe: {counts: ...}`; `tidemark counts` reads counts. A slot is complete when the source's counts
    are final and the lake has the declared share, but not too many. Windows of 5 and 10 minutes, hours and days are
    complete with all their slots.

    \b
      tidemark completeness clicks_landed 2026-03-29T15

    \b
    Exit codes: 0 complete; 1 not complete, or the slice or probe does not exist; 2 wrong usage.
    With --json: {"slice", "is_complete", "source", "lake", "ratio", "final_until", "complete_windows": {period: n},
                  "open_slots": [{"start", "end", "source", "lake", "missing"}],
                  "parts": [{"side", "part", "records"}]}.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    from tidemark.crawl.probed_slice import ProbedSlice  # noqa: PLC0415 - keeps --help fast
    from tidemark.crawl.probes.counted_records import counted_window  # noqa: PLC0415
    from tidemark.dependency_model.slice import Slice  # noqa: PLC0415
    from tidemark.state_store.database import Database  # noqa: PLC0415
    from tidemark.state_store.record_counts import RecordCounts  # noqa: PLC0415
    from tidemark.system.settings import Settings  # noqa: PLC0415
    from tidemark.warehouse.warehouse import load_warehouse  # noqa: PLC0415

    warehouse, slice_ = load_warehouse(Settings.load()), Slice(entity, slice_key, parts_of(parts))
    probe = warehouse.graph.entity(entity).probe
    if probe is None or probe.counts is None:
        raise click.ClickException(f"{entity} is not counted: add this to its declaration: 'probe: {{counts: ...}}'")
    counts = RecordCounts(Database.of(warehouse.settings))
    counted = counted_window(probe.counts, ProbedSlice.of(warehouse.graph, slice_), counts)
    if as_json:
        print_json(_as_data(slice_, counted))
    else:
        _print(slice_, counted)
    raise SystemExit(ExitCode.FAILED if counted.open_slots else ExitCode.OK)


def _as_data(slice_: Slice, counted: CountedWindow) -> dict[str, Any]:
    return {
        "slice": str(slice_),
        "is_complete": not counted.open_slots,
        "source": counted.source,
        "lake": counted.lake,
        "ratio": _ratio(counted),
        "final_until": counted.final_until.isoformat(),
        "complete_windows": _windows(counted),
        "open_slots": [_slot(slot) for slot in counted.open_slots],
        "parts": [{"side": side, "part": part, "records": records} for side, part, records in counted.parts],
    }


def _ratio(counted: CountedWindow) -> float | None:
    """Share of the source's records; None if only the lake has records."""
    return counted.lake / counted.source if counted.source else (1.0 if not counted.lake else None)


def _windows(counted: CountedWindow) -> dict[str, int]:
    return dict(Counter(str(change.period) for change in counted.windows))


def _slot(slot: Slot) -> dict[str, Any]:
    return {
        "start": _text(slot.start),
        "end": _text(slot.end),
        "source": slot.source,
        "lake": slot.lake,
        "missing": slot.missing,
    }


def _text(minute: int) -> str:
    return f"{datetime.fromtimestamp(minute * 60, UTC):%Y-%m-%dT%H:%MZ}"


def _print(slice_: Slice, counted: CountedWindow) -> None:
    share = _ratio(counted)
    records = f"{slice_}: {counted.lake} of {counted.source} records{'' if share is None else f', {share:.4%}'}"
    style = "yellow" if counted.open_slots else "green"
    print_line(f"{records}: {'not complete' if counted.open_slots else 'complete'}", style)
    print_line(f"  the source's counts are final until {counted.final_until:%Y-%m-%dT%H:%MZ}")
    windows = ", ".join(f"{count} of {period}" for period, count in _windows(counted).items())
    print_line(f"  complete in it: {windows or 'no window'}")
    if counted.open_slots:
        rows = [[str(value) for value in _slot(slot).values()] for slot in counted.open_slots[:_SHOWN]]
        print_table(["from", "to", "source", "lake", "missing"], rows)
        more = len(counted.open_slots) - _SHOWN
        if more > 0:
            print_line(f"  and {more} more")
    parts = [[side, part, str(count)] for side, part, count in counted.parts if count]
    print_table(["side", "part", "records"], parts[:_SHOWN])
