"""`tidemark impact`: the slices downstream of slices, and the suspects for a wrong slice."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from typing import TYPE_CHECKING, Any

import click

from tidemark.console.asked_slices import asked_slices
from tidemark.console.entity_argument import declared_names
from tidemark.console.exit_codes import ExitCode
from tidemark.console.output import json_option, print_json, print_line, print_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tidemark.api.warehouse_status import WarehouseStatus
    from tidemark.console.suspicion import Suspicion
    from tidemark.dependency_model.graph.edge import Edge
    from tidemark.dependency_model.impact import ImpactedSlice, Suspect
    from tidemark.dependency_model.impact.closure import Follows
    from tidemark.dependency_model.slice import Slice
    from tidemark.dependency_model.status import SliceStatus

_STYLES = {"clear": "red", "start": "yellow", "nothing": ""}
_SHOWN = 40


@dataclass(frozen=True)
class _ImpactQuestion:
    """The question: slices of an entity or of a run; `until` (aware) ends the search downstream."""

    entity: str | None
    slices: str | None
    run: str | None
    column: str | None
    until: datetime
    yes: bool


@click.command()
@click.argument("entity", required=False, shell_complete=declared_names)
@click.argument("slices", required=False)
@click.option("--run", metavar="RUN_ID", help="The slices of this Dagster run instead of ENTITY and SLICES.")
@click.option("--column", help="Only slices that use this column of ENTITY, as far as column lineage knows.")
@click.option("--suspects", is_flag=True, help="Search upstream for the cause of wrong slices, most likely first.")
@click.option("--until", type=click.DateTime(), help="Only slices that begin before this (UTC).  [default: now]")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation of more than 1,000 slices.")
@json_option
def impact(
    entity: str | None,
    slices: str | None,
    *,
    run: str | None,
    column: str | None,
    suspects: bool,
    until: datetime | None,
    yes: bool,
    as_json: bool,
) -> None:
    """Show exactly which slices are computed from the given slices, and what to do with each.

    SLICES is a business time as in `tidemark explain`, a list 2026-03-01,2026-03-05 or a range 2026-03-01..2026-03-05.
    A day stands for its hours, or for the week around it. ENTITY may also be the name of a Dagster asset.

    \b
    clear    it was computed from them: clear it and compute it again
    start    it is empty and will not start automatically: start it
    nothing  it will read them when it starts, or its entity has reprocess: never

    --suspects searches upstream, through the versions that the runs read. It lists slices that are invalid, tainted,
    recomputed or changed late since they were read, or computed by code that has changed.

    \b
    Examples:
      tidemark impact ods_orders 2026-03-29
      tidemark impact ods_orders 2026-03-29 --column amount
      tidemark impact ads_gmv_course 2026-03-29 --suspects
    \b
    Exit codes: 0 shown, 1 unknown entity, slice, column or run; 2 wrong usage; 75 the state store does not answer.
    With --json what GET /v1/impact answers: {"causes": [...], "until", "downstream": [{"slice", "need", "because",
                  "run_state", "valid", "tainted"}]}; with --suspects {"slices": [...], "suspects": [{"of", "slice",
                  "steps", "reasons": [...], "read": {"generation", "version"}, "generation", "version"}]}.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    from tidemark.api.warehouse_status import WarehouseStatus  # noqa: PLC0415 - keeps --help fast
    from tidemark.system.settings import Settings  # noqa: PLC0415

    now = datetime.now(UTC)
    question = _ImpactQuestion(entity, slices, run, column, until.replace(tzinfo=UTC) if until else now, yes)
    stands = WarehouseStatus.of(Settings.load(), now)
    causes = _causes(stands, question)
    if suspects:
        _tell_suspects(stands, causes, as_json=as_json)
    else:
        _tell_impact(stands, causes, question, as_json=as_json)
    raise SystemExit(ExitCode.OK)


def _causes(stands: WarehouseStatus, question: _ImpactQuestion) -> tuple[Slice, ...]:
    from tidemark.errors import NoSuchSliceError  # noqa: PLC0415

    if question.run is not None:
        if question.entity or question.column:
            raise click.UsageError("--run names slices already: leave out ENTITY, SLICES and --column")
        slices = stands.store.read.slices_of_run(question.run) if stands.store else []
        if not slices:
            raise NoSuchSliceError("this run is not the last run of any slice", found=question.run)
        return tuple(slices)
    if question.entity is None or question.slices is None:
        raise click.UsageError("name ENTITY and SLICES, or --run")
    return asked_slices(stands.warehouse.graph, question.entity, question.slices, yes=question.yes)


def _tell_impact(stands: WarehouseStatus, causes: Sequence[Slice], question: _ImpactQuestion, *, as_json: bool) -> None:
    from tidemark.api.impact import impact_model  # noqa: PLC0415 - loads FastAPI's models
    from tidemark.dependency_model.impact import downstream_closure, impacts_of  # noqa: PLC0415

    graph = stands.warehouse.graph
    reached = list(downstream_closure(graph, causes, question.until, _follows(stands, question)))
    impacts = impacts_of(graph, reached, _statuses(stands, reached))
    if as_json:
        print_json(impact_model(causes, question.until, impacts).model_dump(mode="json"))
        return
    _print_impact(causes, impacts)


def _follows(stands: WarehouseStatus, question: _ImpactQuestion) -> Follows | None:
    """The dependencies that use the column; all if no column is named."""
    if question.column is None or question.entity is None:
        return None
    from tidemark.warehouse.column_reach import dependencies_reached  # noqa: PLC0415

    warehouse = stands.warehouse
    taken = dependencies_reached(warehouse.graph, warehouse.columns, question.entity, question.column)

    def follows(edge: Edge) -> bool:
        return (edge.up.name, edge.down.name) in taken

    return follows


def _statuses(stands: WarehouseStatus, slices: Sequence[Slice]) -> Mapping[Slice, SliceStatus]:
    if stands.store is None:
        return {}
    return {current.slice: current.status for current in stands.store.read.currents(slices)}


def _print_impact(causes: Sequence[Slice], impacts: Sequence[ImpactedSlice]) -> None:
    print_line(_ends(causes), "bold")
    if not impacts:
        print_line("  no slice is computed from it")
        return
    groups = [
        (need.value, name, list(group))
        for (name, need), group in groupby(impacts, key=lambda impact: (impact.slice.entity, impact.need))
    ]
    rows = [[need, name, _ends([impact.slice for impact in group]), _because(group)] for need, name, group in groups]
    print_table(["need", "entity", "slices", ""], rows, [_STYLES[row[0]] for row in rows])
    counts = Counter(impact.need.value for impact in impacts)
    print_line(", ".join(f"{counts[need]:,} {words}" for need, words in _SUMS.items()), "bold")


_SUMS = {"clear": "to clear and compute again", "start": "to start", "nothing": "need nothing"}


def _because(group: Sequence[ImpactedSlice]) -> str:
    words = Counter(impact.because for impact in group)
    return ", ".join(reason if len(words) == 1 else f"{count} {reason}" for reason, count in words.items())


def _ends(slices: Sequence[Slice]) -> str:
    if len(slices) == 1:
        return str(slices[0])
    return f"{slices[0]} .. {str(slices[-1]).partition('@')[2]} ({len(slices):,})"


def _tell_suspects(stands: WarehouseStatus, slices: Sequence[Slice], *, as_json: bool) -> None:
    from tidemark.console.suspicion import Suspicion  # noqa: PLC0415 - keeps --help fast

    suspicion = Suspicion(stands)
    by_slice = {slice_: suspicion.suspects(slice_) for slice_ in slices}
    if as_json:
        told = [_suspect_as_data(slice_, s, suspicion) for slice_, suspects in by_slice.items() for s in suspects]
        print_json({"slices": [str(slice_) for slice_ in slices], "suspects": told})
        return
    for slice_, suspects in by_slice.items():
        print_line(f"{slice_}: {len(suspects)} of the slices upstream are suspect", "bold")
        rows = [
            [str(suspect.slice), str(suspect.steps), "; ".join(reason.value for reason in suspect.reasons),
             _versions(suspect, suspicion)]
            for suspect in suspects[:_SHOWN]
        ]  # fmt: skip
        print_table(["slice", "steps up", "because", "read, and now"], rows)
        if len(suspects) > _SHOWN:
            print_line(f"and {len(suspects) - _SHOWN} less likely ones; --json has all")


def _versions(suspect: Suspect, suspicion: Suspicion) -> str:
    version = suspicion.version(suspect.slice)
    read = f"generation {suspect.read.generation}" if suspect.read.generation else "not known"
    read += f", version {suspect.read.version}" if suspect.read.version else ""
    return f"{read}; now generation {suspect.status.generation}{f', version {version}' if version else ''}"


def _suspect_as_data(of: Slice, suspect: Suspect, suspicion: Suspicion) -> dict[str, Any]:
    return {
        "of": str(of),
        "slice": str(suspect.slice),
        "steps": suspect.steps,
        "reasons": [reason.name.lower() for reason in suspect.reasons],
        "read": {"generation": suspect.read.generation or None, "version": suspect.read.version or None},
        "generation": suspect.status.generation,
        "version": suspicion.version(suspect.slice) or None,
    }
