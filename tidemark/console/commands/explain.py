"""`tidemark explain`: what one slice waits for, and what waits for it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from tidemark.console.exit_codes import ExitCode
from tidemark.console.explanation import print_explanation
from tidemark.console.output import json_option, print_json
from tidemark.dependency_model.slice import Slice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.readiness.known_slices import KnownSlices
    from tidemark.system.settings import Settings

_DEPTH = 4


@click.command()
@click.argument("entity")
@click.argument("slice_key", metavar="SLICE")
@click.option("--state", default="completed", show_default=True, help="The state to reach, such as estimated.")
@click.option("--part", "parts", multiple=True, metavar="DIMENSION=VALUE", help="One sub-partition; may be repeated.")
@json_option
def explain(entity: str, slice_key: str, *, state: str, parts: Sequence[str], as_json: bool) -> None:
    """Say what a slice waits for, slice by slice and why, and what waits for it.

    Where something has been computed already, it also says how the slice stands, and follows what is missing upwards.

    SLICE is the business time that the entity is cut by: a day 2026-03-29, an hour 2026-03-29T03 (the second 02 of an
    autumn night is 2026-10-25T02+01:00), a week by its first day, a month 2026-03, a quarter 2026-Q1, a year 2026;
    `static` for an entity without periods.

    \b
    Exit codes: 0 explained, 1 no such entity or slice, or it is before the entity's start or after its end;
                2 called wrongly.
    With --json what GET /v1/slices answers for a slice: {"slice", "exists", "window", "not_before", "ready_by",
                  "status", "may_start", "waits_for", "upstream": [{"entity", "offset", "states", "strength",
                  "or_older", "met", "reason", "due", "missing", "slices": [{"slice", "status"}]}],
                  "downstream": [...]}; what is not known is null.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    from tidemark.api.explanation import explanation_model  # noqa: PLC0415
    from tidemark.dependency_model.readiness.explanation import explain as explained  # noqa: PLC0415 - keeps --help fast
    from tidemark.system.settings import Settings  # noqa: PLC0415
    from tidemark.warehouse.warehouse import load_warehouse  # noqa: PLC0415

    settings = Settings.load()
    graph = load_warehouse(settings).graph
    slice_ = Slice(entity, slice_key, _parts(parts))
    known = _known(graph, settings)
    explanation = explained(graph, slice_, state=state, known=known, now=datetime.now(UTC), depth=_DEPTH)
    exists = graph.exists(slice_)
    if as_json:
        status_of = known.status if known else None
        print_json(explanation_model(explanation, exists=exists, status_of=status_of).model_dump(mode="json"))
    else:
        print_explanation(graph, explanation, exists=exists)
    raise SystemExit(ExitCode.OK if exists else ExitCode.FAILED)


def _known(graph: DependencyGraph, settings: Settings) -> KnownSlices | None:
    """What the state store knows; None where there is no store yet."""
    from tidemark.state_store.store import StateStore  # noqa: PLC0415
    from tidemark.state_store.stored_slices import StoredSlices  # noqa: PLC0415

    if not settings.state and not settings.state_db.exists():
        return None
    return StoredSlices(graph, StateStore.of(settings).read)


def _parts(parts: Sequence[str]) -> tuple[tuple[str, str], ...]:
    pairs = [part.partition("=") for part in parts]
    if any(not equals for _, equals, _ in pairs):
        raise click.BadParameter("expected DIMENSION=VALUE", param_hint="--part")
    return tuple(sorted((dimension, value) for dimension, _, value in pairs))
