"""`tidemark explain`: what one slice waits for, and what waits for it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, NoReturn

import click

from tidemark.console.entity_argument import entity_argument
from tidemark.console.exit_codes import ExitCode
from tidemark.console.explanation import Background, print_explanation
from tidemark.console.output import json_option, print_json
from tidemark.console.part_options import parts_of
from tidemark.dependency_model.entity import EntityKind
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import RunState
from tidemark.dependency_model.status.flaws import flaws

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.console.slice_provenance import SliceRecord, TaintRecord
    from tidemark.console.warehouse_status import WarehouseStatus
    from tidemark.dependency_model.readiness.explanation import Explanation
    from tidemark.dependency_model.refresh.delivery import SliceDelivery
    from tidemark.state_store.slice_copies import SliceCopy

_DEPTH = 4


@click.command()
@entity_argument()
@click.argument("slice_key", metavar="SLICE")
@click.option("--state", default="completed", show_default=True, help="The state to reach, such as estimated.")
@click.option("--part", "parts", multiple=True, metavar="DIMENSION=VALUE", help="One sub-partition; may be repeated.")
@click.option("--as-of", type=click.DateTime(), help="How it stood at this time (UTC), and what it had read by then.")
@json_option
def explain(
    entity: str, slice_key: str, *, state: str, parts: Sequence[str], as_of: datetime | None, as_json: bool
) -> None:
    """Say what a slice waits for, slice by slice and why, and what waits for it.

    Where something has been computed already, it also says how the slice stands, and follows what is missing upwards,
    down to the shards and heartbeats that a captured table's snapshot waits for. Of a slice that is there it says which
    run computed it, when, what it wrote, and which slices and versions it read.

    SLICE is the business time that the entity is cut by: a day 2026-03-29, an hour 2026-03-29T03 (the second 02 of an
    autumn night is 2026-10-25T02+01:00), a week by its first day, a month 2026-03, a quarter 2026-Q1, a year 2026;
    `static` for an entity without periods.

    With --as-of it says how the slice stood at a time that is past, which run had computed it, and which slices that
    run had read, in which generations and at which versions of their tables.

    \b
    Exit codes: 0 explained, 1 no such entity or slice, or it is before the entity's start or after its end;
                2 called wrongly.
    With --json what GET /v1/slices answers for a slice: {"slice", "exists", "window", "not_before", "ready_by",
                  "status", "may_start", "waits_for", "upstream": [{"entity", "offset", "states", "strength",
                  "or_older", "met", "reason", "due", "missing", "slices": [{"slice", "status"}]}],
                  "downstream": [...]}, and beside it "held_back": {slice: [sentence, ...]},
                  "failure": [sentence, ...] and "record": {"completed_at", "who", "run_id", "rows", "size_bytes",
                  "version", "seconds",
                  "read": [{"first", "last", "slices", "generation", "version"}]} and "taint": {"who", "why", "since"}
                  and "replicas": [...] as `tidemark replicate --status --json` has them, and "refreshed": [...] as
                  `tidemark refresh --status --json` has them;
                  what is not known is null.
    With --as-of what GET /v1/slices?as_of= answers of a slice: {"slice", "as_of", "run_state", "states", "valid",
                  "tainted", "generation", "completed_at", "who", "run_id", "version", "read": [{"slice", "generation",
                  "version"}]}.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    from tidemark.api.explanation import explanation_model  # noqa: PLC0415
    from tidemark.console.warehouse_status import WarehouseStatus  # noqa: PLC0415
    from tidemark.dependency_model.readiness.explanation import explain as explained  # noqa: PLC0415 - keeps --help fast
    from tidemark.system.settings import Settings  # noqa: PLC0415

    now = datetime.now(UTC)
    stands = WarehouseStatus.of(Settings.load(), now)
    graph, slice_ = stands.warehouse.graph, Slice(entity, slice_key, parts_of(parts))
    if as_of is not None:
        _tell_as_of(stands, slice_, as_of.replace(tzinfo=UTC), as_json=as_json)
    explanation = explained(graph, slice_, state=state, known=stands.stored, now=now, depth=_DEPTH)
    exists = graph.exists(slice_)
    held_back = _held_back(stands, explanation)
    if explanation.status and (others := explanation.status.issues - {slice_}):
        held_back[slice_] += stands.broken_rules(others)
    is_open = explanation.status is not None and explanation.status.run_state is not RunState.COMPLETED
    idle = [stands.without_center] if is_open and stands.without_center else []
    background = Background(
        held_back,
        _record(stands, slice_),
        _taint(stands, slice_),
        _copies(stands, slice_),
        failure=[*stands.failure(slice_), *idle],
        deliveries=_deliveries(stands, slice_),
    )
    if as_json:
        status_of = stands.stored.status if stands.stored else None
        model = explanation_model(explanation, exists=exists, status_of=status_of).model_dump(mode="json")
        print_json({**model, **background.as_data()})
    else:
        print_explanation(graph, explanation, background, exists=exists)
    raise SystemExit(ExitCode.OK if exists else ExitCode.FAILED)


def _tell_as_of(stands: WarehouseStatus, slice_: Slice, when: datetime, *, as_json: bool) -> NoReturn:
    """The past alone: what is waited for now is another question."""
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


def _held_back(stands: WarehouseStatus, explanation: Explanation) -> dict[Slice, list[str]]:
    """Why nobody takes the slice, or what it waits for: its flaws, and why a captured one is not there."""
    deeper = (slice_ for clause in explanation.clauses for slice_ in clause.missing)
    reasons = {slice_: because for missing in deeper for slice_, because in _held_back(stands, missing).items()}
    is_there = explanation.status is None or explanation.status.run_state is RunState.COMPLETED
    entity = stands.warehouse.graph.entity(explanation.slice.entity)
    if not is_there and entity.kind is EntityKind.VIRTUAL:
        reasons[explanation.slice] = stands.because(explanation.slice)
    if not is_there and stands.warehouse.is_snapshot(explanation.slice.entity):
        reasons[explanation.slice] = stands.snapshot_blockers(explanation.slice)
    told = flaws(explanation.slice, explanation.status) if explanation.status else []
    if told and explanation.status:
        broken = stands.broken_rules(explanation.status.issues & {explanation.slice})
        reasons[explanation.slice] = [*reasons.get(explanation.slice, ()), *told, *broken]
    return reasons


def _record(stands: WarehouseStatus, slice_: Slice) -> SliceRecord | None:
    """Of a slice that is there."""
    if stands.store is None or stands.store.read.current(slice_) is None:
        return None
    from tidemark.console.slice_provenance import slice_record  # noqa: PLC0415 - keeps --help fast

    return slice_record(stands.warehouse, stands.store, slice_)


def _copies(stands: WarehouseStatus, slice_: Slice) -> dict[str, SliceCopy]:
    """By the place to which the slice is replicated."""
    from tidemark.state_store.slice_copies import SliceCopies  # noqa: PLC0415 - keeps --help fast

    if stands.store is None:
        return {}
    places = stands.warehouse.entities[slice_.entity].replicate
    copies = {place: SliceCopies(stands.store.database, place, slice_.entity).of(slice_) for place in places}
    return {place: copy for place, copy in copies.items() if copy is not None}


def _deliveries(stands: WarehouseStatus, slice_: Slice) -> dict[str, SliceDelivery]:
    """By the target at which something was made of the slice."""
    from tidemark.state_store.slice_deliveries import SliceDeliveries  # noqa: PLC0415 - keeps --help fast

    if stands.store is None:
        return {}
    targets = dict.fromkeys(told.target for told in stands.warehouse.entities[slice_.entity].refresh)
    told = {name: SliceDeliveries(stands.store.database, name, slice_.entity).of(slice_) for name in targets}
    return {name: delivery for name, delivery in told.items() if delivery is not None}


def _taint(stands: WarehouseStatus, slice_: Slice) -> TaintRecord | None:
    from tidemark.console.slice_provenance import taint_record  # noqa: PLC0415 - keeps --help fast

    return taint_record(stands.store, slice_) if stands.store else None
