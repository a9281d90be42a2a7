"""`tidemark lineage`: which columns a column comes from, and which come from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tidemark.console.exit_codes import ExitCode
from tidemark.console.output import json_option, print_json, print_line
from tidemark.console.project_option import read_project
from tidemark.dependency_model.suggestion import did_you_mean, quote_value
from tidemark.errors import UnknownEntityError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from tidemark.warehouse.column_graph import ColumnGraph

    Step = Callable[[str], Sequence[str]]

_DEPTH = 50


@click.command()
@click.argument("name", metavar="ENTITY[.COLUMN]")
@click.option("--up", "directions", flag_value="up", multiple=True, help="What it comes from (the default).")
@click.option("--down", "directions", flag_value="down", multiple=True, help="What comes from it.")
@json_option
def lineage(name: str, *, directions: Sequence[str], as_json: bool) -> None:
    """Show which columns a column is computed of, back to the source tables, or which are computed of it, as a tree.

    Of an entity alone, each of its columns. Columns that decide which rows there are - conditions, joins, groups - are
    listed apart, once an entity, as "indirect".

    \b
    Exit codes: 0 shown, 1 no such entity or column, or a declaration cannot be read; 2 called wrongly.
    With --json: {"columns": [{"column", "up"|"down": [{"column", "of": [...]}]}], "indirect": {entity: [...]}}.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    from tidemark.dependency_model.graph import DependencyGraph  # noqa: PLC0415 - keeps --help fast
    from tidemark.system.garbage_collection import pause_collection  # noqa: PLC0415
    from tidemark.warehouse.column_graph import column_graph  # noqa: PLC0415

    settings, declared = read_project()
    read = declared.require_no_problems()
    with pause_collection():
        order = DependencyGraph.build(read.entities).topological()
    graph = column_graph(order, read.entities, read.queries, settings.declarations, settings)
    wanted = _wanted(name, graph, read.entities)
    ways = tuple(dict.fromkeys(directions)) or ("up",)
    if as_json:
        print_json(_as_data(wanted, ways, graph))
    else:
        _print(wanted, ways, graph)
    raise SystemExit(ExitCode.OK)


def _wanted(name: str, graph: ColumnGraph, known: Collection[str]) -> list[str]:
    """The columns asked for. Raises UnknownEntityError."""
    entity, _, column = name.partition(".")
    if entity not in known:
        raise UnknownEntityError("no such entity", found=quote_value(entity), hint=did_you_mean(entity, known))
    columns = graph.columns(entity)
    if column and column not in columns:
        raise UnknownEntityError(
            f"{entity} has no such column", found=quote_value(column), hint=did_you_mean(column, columns)
        )
    return [f"{entity}.{name}" for name in ([column] if column else columns)]


def _step(graph: ColumnGraph, way: str) -> Step:
    return graph.up if way == "up" else graph.down


def _print(wanted: Sequence[str], ways: Sequence[str], graph: ColumnGraph) -> None:
    for column in wanted:
        print_line(column, "bold")
        for way in ways:
            for line in _lines(column, _step(graph, way), "<- " if way == "up" else "-> ", 1):
                print_line(line)
    for entity in dict.fromkeys(column.rpartition(".")[0] for column in wanted):
        entity_columns = graph.entities.get(entity)
        if entity_columns and entity_columns.indirect:
            print_line(f"indirect  {', '.join(entity_columns.indirect)}", "dim")


def _lines(column: str, step: Step, arrow: str, depth: int) -> Iterator[str]:
    for other in step(column):
        yield f"{'   ' * depth}{arrow}{other}"
        if depth < _DEPTH:
            yield from _lines(other, step, arrow, depth + 1)


def _as_data(wanted: Sequence[str], ways: Sequence[str], graph: ColumnGraph) -> dict[str, object]:
    entities = dict.fromkeys(column.rpartition(".")[0] for column in wanted)
    indirect = {name: list(graph.entities[name].indirect) for name in entities if name in graph.entities}
    trees = [{"column": root, **{way: _tree(root, _step(graph, way), 1) for way in ways}} for root in wanted]
    return {"columns": trees, "indirect": indirect}


def _tree(column: str, step: Step, depth: int) -> list[dict[str, object]]:
    if depth > _DEPTH:
        return []
    return [{"column": other, "of": _tree(other, step, depth + 1)} for other in step(column)]
