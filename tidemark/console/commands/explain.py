"""`tidemark explain`: the state of one slice, its inputs, and its readers."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, NoReturn

import click

from tidemark.console.entity_argument import entity_argument
from tidemark.console.exit_codes import ExitCode
from tidemark.console.explanation import print_explanation
from tidemark.console.output import json_option, print_json
from tidemark.console.part_options import parts_of
from tidemark.dependency_model.slice import Slice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.api.warehouse_status import WarehouseStatus


@click.command()
@entity_argument()
@click.argument("slice_key", metavar="SLICE")
@click.option("--state", default="completed", show_default=True, help="The state to reach, such as estimated.")
@click.option("--part", "parts", multiple=True, metavar="DIMENSION=VALUE", help="One sub-partition; may be repeated.")
@click.option("--as-of", type=click.DateTime(), help="Its state at this time (UTC), and what it had read.")
@json_option
def explain(
    entity: str, slice_key: str, *, state: str, parts: Sequence[str], as_of: datetime | None, as_json: bool
) -> None:
    """Show one slice: its inputs and what it waits for, its run, and the slices that wait for it.

    If slices were computed already, it shows the state of the slice, and follows missing inputs upstream, down to the
    shards and heartbeats of captured tables. For a completed slice it shows the run, its time, what it wrote, and the
    slices and versions that it read. If some of these were computed again since, it says which, and why the slice was
    not.

    SLICE is a business time in the form of its entity: a day 2026-03-29, an hour 2026-03-29T03 (the repeated hour in
    autumn is 2026-10-25T02+01:00), a week by its first day, a month 2026-03, a quarter 2026-Q1, a year 2026; `static`
    for an entity without periods.

    --as-of shows the slice at a past time, the run that had computed it, and the slices that this run had read, with
    their generations and versions.

    \b
    Exit codes: 0 explained, 1 unknown entity or slice, or it is before the entity's start or after its end;
                2 wrong usage.
    With --json what GET /v1/explanation answers: {"slice", "exists", "window", "not_before", "ready_by",
                  "status", "may_start", "waits_for", "upstream": [{"entity", "offset", "states", "strength",
                  "or_older", "met", "reason", "due", "missing", "slices": [{"slice", "status"}]}],
                  "downstream": [...], "of_entity": {"name", "layer", "kind", "owner", "period", "time_zone", "tags"},
                  "chain": [{"slice", "run_state", "inputs", "missing", "next"}] down to the cause of its waiting,
                  "because": [sentence, ...] of that cause, "held_back": {slice: [sentence, ...]},
                  "failure": [sentence, ...], "outdated": [sentence, ...], "record": {"completed_at", "who",
                  "run_id", "rows", "size_bytes", "version", "seconds",
                  "read": [{"first", "last", "slices", "generation", "version"}]},
                  "taint": {"who", "why", "since"}, "rules": [{"rule", "severity", "outcome", "expected", "reason",
                  "measured", "judged_at"}], "life": [{"seq", "at", "event", "run_state", "generation", "valid",
                  "tainted", "who", "why", "run_id"}], "replicas": [...] as `tidemark replicate --status --json` has
                  them, "refreshed": [...] as `tidemark refresh --status --json` has them, "runs_url"};
                  unknown values are null.
    With --as-of what GET /v1/slices?as_of= answers for a slice: {"slice", "as_of", "run_state", "states", "valid",
                  "tainted", "generation", "completed_at", "who", "run_id", "version", "read": [{"slice", "generation",
                  "version"}]}.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    from tidemark.api.slice_answer import answer_model  # noqa: PLC0415 - keeps --help fast
    from tidemark.api.slice_background import explained_slice  # noqa: PLC0415
    from tidemark.api.warehouse_status import WarehouseStatus  # noqa: PLC0415
    from tidemark.system.settings import Settings  # noqa: PLC0415

    now = datetime.now(UTC)
    stands = WarehouseStatus.of(Settings.load(), now)
    graph, slice_ = stands.warehouse.graph, Slice(entity, slice_key, parts_of(parts))
    if as_of is not None:
        _tell_as_of(stands, slice_, as_of.replace(tzinfo=UTC), as_json=as_json)
    explanation, background = explained_slice(stands, slice_, state)
    exists = graph.exists(slice_)
    if as_json:
        print_json(answer_model(stands, explanation, background).model_dump(mode="json"))
    else:
        print_explanation(graph, explanation, background, exists=exists)
    raise SystemExit(ExitCode.OK if exists else ExitCode.FAILED)


def _tell_as_of(stands: WarehouseStatus, slice_: Slice, when: datetime, *, as_json: bool) -> NoReturn:
    """Print only the past, not what the slice waits for now."""
    from tidemark.api.past_slices import past_slice_model  # noqa: PLC0415 - keeps --help fast
    from tidemark.catalog.slice_as_of import SliceAsOf, slice_as_of  # noqa: PLC0415
    from tidemark.console.past_slice import print_as_of  # noqa: PLC0415

    stands.warehouse.graph.window(slice_)
    told = slice_as_of(stands.store, slice_, when) if stands.store else SliceAsOf(slice_, when, None, None, None)
    if as_json:
        print_json(past_slice_model(told).model_dump(mode="json"))
    else:
        print_as_of(told)
    raise SystemExit(ExitCode.OK)
