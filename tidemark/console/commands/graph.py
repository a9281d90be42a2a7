"""`tidemark graph`: the dependencies between entities."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from tidemark.console.output import json_option, print_json, print_table
from tidemark.console.project_option import read_project

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.graph.view import View

_ALL = 1_000_000


@click.command()
@click.argument("entity", required=False)
@click.option("--up", type=click.IntRange(0), default=_ALL, show_default="all", help="Steps upstream.")
@click.option("--down", type=click.IntRange(0), default=_ALL, show_default="all", help="Steps downstream.")
@click.option("--to", metavar="OTHER", help="Only the ways from ENTITY down to this entity.")
@click.option("--tag", "tags", multiple=True, metavar="KEY=VALUE", help="Only entities with this tag; may be repeated.")
@click.option("--layer", "layers", multiple=True, help="Only entities of this layer; may be repeated.")
@click.option("--format", "form", type=click.Choice(["text", "mermaid", "json"]), default="text", show_default=True)
@click.option("--as-of", type=click.DateTime(), help="The dependencies at this time (UTC).")
@json_option
def graph(
    entity: str | None,
    *,
    up: int,
    down: int,
    to: str | None,
    tags: Sequence[str],
    layers: Sequence[str],
    form: str,
    as_of: datetime | None,
    as_json: bool,
) -> None:
    """Show which entities read each other: all of them, or those around ENTITY.

    Formats: text with one line for each entity, in the order of computation, with its upstream entities and offsets; a
    mermaid flow chart for documents; JSON for programs.

    --as-of shows what each table read at that time, by the code that had computed it. Entities that were neither
    computed nor read until then are left out.

    \b
    Exit codes: 0 shown, 1 unknown entity or a declaration cannot be read, 2 wrong usage.
    With --json: {"entities": [{"name", "layer", "kind", "period", "tags"}],
                  "dependencies": [{"up", "down", "offset", "state", "strength"}]}.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    from tidemark.api.entity_graph import entity_graph_model, part_of  # noqa: PLC0415 - keeps --help fast
    from tidemark.dependency_model.graph import DependencyGraph  # noqa: PLC0415
    from tidemark.system.garbage_collection import pause_collection  # noqa: PLC0415

    if to is not None and entity is None:
        raise click.UsageError("--to needs an ENTITY: the way begins there")
    settings, declared = read_project()
    entities = declared.require_no_problems().entities
    if as_of is not None:
        from tidemark.catalog.past_project import past_project  # noqa: PLC0415 - opens the state store

        entities = past_project(settings, declared, as_of.replace(tzinfo=UTC)).entities
    with pause_collection():
        whole = DependencyGraph.build(entities)
    around = None if entity is None else (entity, up, down)
    shown = part_of(whole, _parse_tags(tags), layers, around, to)
    if as_json or form == "json":
        print_json(entity_graph_model(whole, shown).model_dump(mode="json"))
    elif form == "mermaid":
        click.echo("\n".join(as_mermaid(whole, shown)))
    else:
        _print(whole, shown)


def as_mermaid(whole: DependencyGraph, shown: View) -> Iterable[str]:
    """The view as a mermaid flow chart: a box for each layer, an arrow for each dependency."""
    yield "flowchart LR"
    numbers = {name: f"n{number}" for number, name in enumerate(shown.entities)}
    layers = dict.fromkeys(whole.entity(name).layer for name in shown.entities)
    for layer in layers:
        yield f"  subgraph {layer or 'entities'}"
        for name in shown.entities:
            if whole.entity(name).layer == layer:
                yield f'    {numbers[name]}["{name}"]'
        yield "  end"
    for arrow in shown.arrows:
        line = "-->" if arrow.strength == "strong" else "-.->"
        yield f'  {numbers[arrow.up]} {line}|"{arrow.offset}"| {numbers[arrow.down]}'


def _parse_tags(tags: Sequence[str]) -> dict[str, str]:
    lines = {}
    for tag in tags:
        key, equals, value = tag.partition("=")
        if not equals:
            raise click.BadParameter(f"expected KEY=VALUE, found {tag!r}", param_hint="--tag")
        lines[key] = value
    return lines


def _print(whole: DependencyGraph, shown: View) -> None:
    rows = []
    for name in shown.entities:
        entity = whole.entity(name)
        upstream = [arrow for arrow in shown.arrows if arrow.down == name]
        words = ", ".join(f"{arrow.up} {arrow.offset}" for arrow in upstream)
        rows.append([entity.layer, name, str(entity.period or "static"), words])
    print_table(["layer", "entity", "period", "upstream"], rows)
