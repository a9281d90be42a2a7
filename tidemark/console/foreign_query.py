"""`tidemark new --query-from`: rewrites a query of another system and prints each change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from tidemark.console.output import print_line, print_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tidemark.dependency_model.entity import Entity
    from tidemark.dependency_model.lineage.foreign_sql.rewriting import RewrittenQuery
    from tidemark.dependency_model.time.partition_columns import PartitionColumn
    from tidemark.dependency_model.time.period import Period
    from tidemark.errors import QueryError


def rewrite_query(
    text: str, *, entity: str, file: str, system: str, period: Period, parameters: Mapping[str, str]
) -> tuple[RewrittenQuery, tuple[QueryError, ...]]:
    """The SELECT of a file with parameters instead of placeholders, and the parts left out. Raises QueryError."""
    from tidemark.console.project_option import read_project  # noqa: PLC0415 - keeps --help fast
    from tidemark.dependency_model.lineage.computed_table import ComputedTable  # noqa: PLC0415
    from tidemark.dependency_model.lineage.foreign_file import rewrite_file  # noqa: PLC0415
    from tidemark.dependency_model.lineage.foreign_sql.rewriting import QueryOrigin  # noqa: PLC0415
    from tidemark.dependency_model.time.partition_columns import parse_partition_columns, time_columns  # noqa: PLC0415

    settings, read = read_project()
    times = time_columns(period, parse_partition_columns(dict(settings.partition_columns)))
    table = ComputedTable(entity, tuple(column.name for column in times), period, times)
    known = {**{name: f":{name}" for name, _ in settings.variables}, **parameters}
    day = next((column for column in times if "dd" in column.units), times[0])
    dates = _date_columns(times, read.entities.values())
    origin = QueryOrigin(system, period, known, frozenset(read.entities), dates, _on_slice(day, period))
    return rewrite_file(text, file, table, origin)


def _on_slice(column: PartitionColumn, period: Period) -> tuple[str, str]:
    from tidemark.dependency_model.lineage.partition_clause import value_on_slice  # noqa: PLC0415 - keeps --help fast

    return column.name, value_on_slice(column, period)


def _date_columns(own: Iterable[PartitionColumn], entities: Iterable[Entity]) -> frozenset[str]:
    """Partition columns that are dates in every table that has them."""
    columns = [*own, *(column for entity in entities for column in entity.times)]
    others = {column.name for column in columns if column.type != "date"}
    return frozenset(column.name for column in columns) - others


def named_values(_context: click.Context, _parameter: click.Parameter, given: Iterable[str]) -> list[tuple[str, str]]:
    """`NAME=VALUE` from the command line."""
    pairs = [text.partition("=") for text in given]
    for name, sign, value in pairs:
        if not name.strip() or not sign or not value.strip():
            raise click.BadParameter("write NAME=VALUE")
    return [(name.strip(), value.strip()) for name, _, value in pairs]


def rewrites_as_data(rewritten: RewrittenQuery, notices: Sequence[QueryError]) -> list[dict[str, Any]]:
    """The changes as JSON; `becomes` is null if a person has to rewrite the part."""
    rows: list[dict[str, Any]] = [
        {"line": _line(notice), "was": notice.message, "becomes": "", "to_do": None} for notice in notices
    ]
    for edit in rewritten.edits:
        was = " ".join(rewritten.source[edit.start : edit.end].split())
        becomes = None if edit.advice else edit.becomes
        rows.append({"line": rewritten.line(edit), "was": was, "becomes": becomes, "to_do": edit.advice or None})
    return sorted(rows, key=lambda row: int(row["line"]))


def print_rewrites(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print the changes as a table."""
    print_table(
        ["line", "was", "becomes"],
        [
            [
                str(row["line"]),
                row["was"],
                f"NOT REWRITTEN: {row['to_do']}" if row["to_do"] else row["becomes"] or "(left out)",
            ]
            for row in rows
        ],
    )


def print_unfinished(text: str) -> None:
    """Print the query with the finished changes."""
    print_line()
    print_line(text.strip())


def _line(notice: QueryError) -> int:
    return int((notice.where or "").split(":")[-2])
