"""`tidemark lineage`: the columns that a column is computed from, or that are computed from it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING

import click

from tidemark.console.exit_codes import ExitCode
from tidemark.console.output import json_option, print_json, print_line
from tidemark.console.project_option import read_project
from tidemark.dependency_model.suggestion import did_you_mean, quote_value
from tidemark.errors import UnknownEntityError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from tidemark.warehouse.column_graph import ColumnGraph
    from tidemark.warehouse.column_tree import Step, TreeLine

_DEPTH = 50
_LIMIT = 1_000


@dataclass(frozen=True)
class TreeSize:
    """Limits of a tree: the number of levels, and of columns in total."""

    depth: int
    limit: int


@click.command()
@click.argument("name", metavar="ENTITY[.COLUMN]")
@click.option("--up", "directions", flag_value="up", multiple=True, help="Upstream (the default).")
@click.option("--down", "directions", flag_value="down", multiple=True, help="Downstream.")
@click.option("--depth", type=click.IntRange(1, 500), default=_DEPTH, show_default=True, help="The number of levels.")
@click.option("--limit", type=click.IntRange(1), default=_LIMIT, show_default=True, help="The most columns in a tree.")
@click.option(
    "--as-of", type=click.DateTime(), help="With the queries that had computed the tables by this time (UTC)."
)
@json_option
def lineage(
    name: str, *, directions: Sequence[str], depth: int, limit: int, as_of: datetime | None, as_json: bool
) -> None:
    """Show which columns a column is computed from, up to the source tables, or with --down the reverse.

    For an entity, every column is shown. Columns that only select rows - conditions, joins, groups - are listed
    separately, once for each entity, as "indirect". A tree follows each column once and marks repetitions.

    --as-of shows the lineage of the queries that had computed the tables by then.

    \b
    Exit codes: 0 shown, 1 unknown entity or column, or a declaration cannot be read; 2 wrong usage.
    With --json: {"columns": [{"column", "up"|"down": [{"column", "of": [...]}], "left_out"}],
                  "indirect": {entity: [...]}}; a node has "again": true if it was followed above, "cut": true if the
                  tree goes on below the depth; left_out counts the columns beyond the limit.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    from tidemark.dependency_model.graph import DependencyGraph  # noqa: PLC0415 - keeps --help fast
    from tidemark.system.garbage_collection import pause_collection  # noqa: PLC0415
    from tidemark.warehouse.column_graph import column_graph  # noqa: PLC0415

    settings, declared = read_project()
    read = declared.require_no_problems()
    entities, queries, root = read.entities, read.queries, settings.declarations
    if as_of is not None:
        from tidemark.catalog.past_project import past_project  # noqa: PLC0415 - opens the state store

        past = past_project(settings, read, as_of.replace(tzinfo=UTC))
        entities, queries, root = past.entities, past.queries, root / "as of then"
    with pause_collection():
        order = DependencyGraph.build(entities).topological()
    graph = column_graph(order, entities, queries, root, settings)
    wanted = _wanted(name, graph, entities)
    ways = tuple(dict.fromkeys(directions)) or ("up",)
    size = TreeSize(depth, limit)
    if as_json:
        print_json(_as_data(wanted, ways, graph, size))
    else:
        _print(wanted, ways, graph, size)
    raise SystemExit(ExitCode.OK)


def _wanted(name: str, graph: ColumnGraph, known: Collection[str]) -> list[str]:
    """The requested columns. Raises UnknownEntityError."""
    entity, _, column = name.partition(".")
    if entity not in known:
        raise UnknownEntityError("unknown entity", found=quote_value(entity), hint=did_you_mean(entity, known))
    columns = graph.columns(entity)
    if column and column not in columns:
        raise UnknownEntityError(
            f"{entity} has no such column", found=quote_value(column), hint=did_you_mean(column, columns)
        )
    return [f"{entity}.{name}" for name in ([column] if column else columns)]


def _step(graph: ColumnGraph, way: str) -> Step:
    return graph.up if way == "up" else graph.down


def _print(wanted: Sequence[str], ways: Sequence[str], graph: ColumnGraph, size: TreeSize) -> None:
    for column in wanted:
        print_line(column, "bold")
        for way in ways:
            for line in _lines(column, _step(graph, way), "<- " if way == "up" else "-> ", size):
                print_line(line)
    for entity in dict.fromkeys(column.partition(".")[0] for column in wanted):
        entity_columns = graph.entities.get(entity)
        if entity_columns and entity_columns.indirect:
            print_line(f"indirect  {', '.join(entity_columns.indirect)}", "dim")


def _lines(column: str, step: Step, arrow: str, size: TreeSize) -> Iterator[str]:
    shown, left_out = _cut(column, step, size)
    for depth, name, is_again, is_cut in shown:
        more = "  (again)" if is_again else "  (deeper levels: --depth)" if is_cut else ""
        yield f"{'   ' * depth}{arrow}{name}{more}"
    if left_out:
        yield f"   and {left_out} more: --limit {size.limit + left_out} shows them"


def _cut(column: str, step: Step, size: TreeSize) -> tuple[list[TreeLine], int]:
    """The lines of a tree up to the limit, and the number of lines left out."""
    from tidemark.warehouse.column_tree import tree_lines  # noqa: PLC0415 - keeps --help fast

    lines = tree_lines(column, step, size.depth)
    return list(islice(lines, size.limit)), sum(1 for _ in lines)


def _as_data(wanted: Sequence[str], ways: Sequence[str], graph: ColumnGraph, size: TreeSize) -> dict[str, object]:
    entities = dict.fromkeys(column.partition(".")[0] for column in wanted)
    indirect = {name: list(graph.entities[name].indirect) for name in entities if name in graph.entities}
    trees = [_tree(root, ways, graph, size) for root in wanted]
    return {"columns": trees, "indirect": indirect}


def _tree(root: str, ways: Sequence[str], graph: ColumnGraph, size: TreeSize) -> dict[str, object]:
    tree: dict[str, object] = {"column": root}
    total = 0
    for way in ways:
        shown, left_out = _cut(root, _step(graph, way), size)
        tree[way] = _nested(shown)
        total += left_out
    return {**tree, "left_out": total}


def _nested(lines: Sequence[TreeLine]) -> list[dict[str, object]]:
    """Nested nodes from indented lines."""
    levels: list[list[dict[str, object]]] = [[]]
    for depth, column, is_again, is_cut in lines:
        below: list[dict[str, object]] = []
        marks = {"again": True} if is_again else {"cut": True} if is_cut else {}
        levels[depth - 1].append({"column": column, "of": below, **marks})
        levels[depth:] = [below]
    return levels[0]
