"""`tidemark new`: declare a table from a query."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import click

from tidemark.console.exit_codes import ExitCode
from tidemark.console.foreign_query import (
    named_values,
    print_rewrites,
    print_unfinished,
    rewrite_query,
    rewrites_as_data,
)
from tidemark.console.output import json_option, print_json, print_line
from tidemark.console.project_option import read_project
from tidemark.dependency_model.offset.offset import Offset
from tidemark.dependency_model.suggestion import did_you_mean, quote_value
from tidemark.dependency_model.time.period import Period
from tidemark.errors import EntityError
from tidemark.system.project_root import PROJECT_FILE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import NoReturn, TextIO

    from tidemark.dependency_model.entity import Entity
    from tidemark.system.settings import Settings

SYSTEMS: Final = ("dataworks", "dolphinscheduler", "hive", "airflow", "dbt", "sqlmesh")
_COPIES: Final = "ods"
"""The layer of a table of files from another system, if its name does not start with a layer."""
_STUB = """\
-- :biz_date is the {period} of the slice. The slices that are read follow from {columns}.
SELECT *
FROM {upstream}
WHERE {condition}
"""


@dataclass(frozen=True)
class Draft:
    """The files to write: a query and a declaration with the same name, or only the declaration."""

    folder: Path
    name: str
    sql: str
    yaml: str

    @property
    def files(self) -> tuple[Path, ...]:
        """The query, if there is one, and the declaration."""
        query = [self.folder / f"{self.name}.sql"] if self.sql else []
        return (*query, self.folder / f"{self.name}.yaml")

    def write(self) -> None:
        """Write both files, or none. Raises EntityError if one exists already."""
        for path in self.files:
            if path.exists():
                raise EntityError("the file exists already", where=str(path), hint="choose another name")
        self.folder.mkdir(parents=True, exist_ok=True)
        for path, text in zip(self.files, filter(None, (self.sql, self.yaml)), strict=True):
            path.write_text(text, encoding="utf-8")

    def with_offsets(self, offsets: Sequence[tuple[str, str]]) -> Draft:
        """Add stated dependencies. Raises ParseError for an invalid offset."""
        entries = [f'  - {{entity: {table}, offset: "{Offset.parse(text)}"}}' for table, text in offsets]
        return replace(self, yaml=self.yaml + "\n".join(["depends_on:", *entries, ""])) if entries else self

    def remove(self) -> None:
        """Remove both files."""
        for path in self.files:
            path.unlink(missing_ok=True)


@click.command()
@click.argument("entity")
@click.option("--query", type=click.File(encoding="utf-8"), help="A file with the query; - is standard input.")
@click.option(
    "--files",
    metavar="PATH",
    help="In place of a query: a folder or a file for each slice, with {key} for its key: 'exports/dt={key}'.",
)
@click.option(
    "--period",
    type=click.Choice([choice.value for choice in Period]),
    help="The default follows from the query's parameters.",
)
@click.option("--from", "start", metavar="DATE", help="The first slice (default: of the project).")
@click.option("--layer", help="The layer's folder (default: the name up to its first _).")
@click.option(
    "--query-from",
    type=click.Choice(SYSTEMS),
    help="The system of the query; its placeholders become parameters.",
)
@click.option(
    "--parameter",
    "parameters",
    multiple=True,
    metavar="NAME=VALUE",
    callback=named_values,
    help="The value of ${NAME}, params.NAME or var('NAME') in that system; may be repeated.",
)
@click.option(
    "--offset",
    "offsets",
    multiple=True,
    metavar="TABLE=OFFSET",
    callback=named_values,
    help="The offset of a table that the query does not show; may be repeated.",
)
@json_option
def new(
    entity: str,
    *,
    query: TextIO | None,
    files: str | None,
    period: str | None,
    start: str | None,
    layer: str | None,
    query_from: str | None,
    parameters: list[tuple[str, str]],
    offsets: list[tuple[str, str]],
    as_json: bool,
) -> None:
    """Write the SQL and YAML of a new ENTITY from a query, and show what it waits for.

    When Dagster has loaded it, every past slice is computed; the command prints their number. The first slice is the
    first one for which all inputs exist, or the project's start if an input has no start. --from, or `start:` in the
    YAML, changes that.

    With --files it declares a table that is copied from files of another system (docs/sources.md), with the columns
    of these files, from their first slice. Columns of a CSV file are texts: declare the types of other columns under
    `columns:`.

    The query is checked as by `tidemark check`. If it cannot be parsed, or the slices that it reads are unclear,
    nothing is written. Without --query a stub is written.

    With --query-from, placeholders of the other system become parameters of the slice (${bizdate} is :biz_date), and
    each change is printed. If something is left to do, nothing is written: the query is printed with a comment at
    each of these places. No template is rendered, and no code is run.

    \b
    Exit codes: 0 written, 1 the query or the name is not valid, 2 wrong usage.
    With --json: {"files": [...], "depends_on": [{"entity", "offset"}],
                  "rewrites": [{"line", "was", "becomes", "to_do"}],
                  "past": {"slices", "first", "last"}}. Without past slices, first and last are null. If
                  the query still needs rewrites: {"query", "rewrites"}; becomes is null in these.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    from tidemark.system.settings import Settings  # noqa: PLC0415 - keeps --help fast

    if files is not None:
        if query or query_from or parameters or offsets or period:
            raise click.UsageError(
                "--files declares a table of files from another system: it only allows --from and --layer"
            )
        _declare_files(_checked_name(entity), files, layer, start, as_json=as_json)
    folder = _layer_folder(Settings.load(), layer or entity.partition("_")[0])
    name, text = _checked_name(entity), query.read() if query else None
    rewrites: list[dict[str, Any]] = []
    if text is not None and query_from:
        text, rewrites = _rewritten(name, text, query_from, period, dict(parameters), as_json=as_json)
    draft = _draft(name, text, period, folder, start).with_offsets(_of_known_entities(offsets))
    declared = write_files(draft)
    if start is None and (earlier := _start_of_inputs(declared)):
        draft.remove()
        draft = replace(draft, yaml=f"{draft.yaml}start: {earlier}\n")
        declared = write_files(draft)
    upstream = [{"entity": read.entity, "offset": str(read.offset)} for read in declared.depends_on]
    past = _past(declared)
    if as_json:
        written = [str(path) for path in draft.files]
        print_json({"files": written, "depends_on": upstream, "rewrites": rewrites, "past": past})
    else:
        for path in draft.files:
            print_line(f"wrote {path}")
        for read in upstream:
            print_line(f"  reads {read['entity']}  {read['offset']}")
        print_line(_past_in_words(past))
    raise SystemExit(ExitCode.OK)


def _declare_files(name: str, path: str, layer: str | None, start: str | None, *, as_json: bool) -> NoReturn:
    """Write the declaration of a table of files from another system, and end the command."""
    from tidemark.console.files_of_others import FilesOfOthers  # noqa: PLC0415 - keeps --help fast
    from tidemark.system.settings import Settings  # noqa: PLC0415

    exports = FilesOfOthers.found(path)
    if start is not None:
        exports = exports._replace(keys=(start,))
    settings, by_name = Settings.load(), name.partition("_")[0]
    folder = _layer_folder(settings, layer or (by_name if by_name in settings.layers else _COPIES))
    draft = Draft(folder, name, "", exports.declaration(name, settings.root))
    declared = write_files(draft)
    past = _past(declared)
    if as_json:
        print_json({"files": [str(file) for file in draft.files], "depends_on": [], "rewrites": [], "past": past})
    else:
        print_line(f"wrote {draft.files[0]}")
        print_line(f"  columns  {', '.join(exports.columns)}")
        print_line(f"  slices   {declared.period}s from {exports.keys[0]} on, {past['slices']} of them have ended")
        print_line(f"  look     tidemark probe {name} {exports.keys[0]}")
    raise SystemExit(ExitCode.OK)


def _start_of_inputs(declared: Entity) -> str | None:
    """The first time at which all inputs have slices, if it is before the project's start.

    None if an input has no start.
    """
    entities = read_project()[1].entities
    starts = [
        entities[read.entity].start
        for read in declared.depends_on
        if read.entity in entities and read.entity != declared.name
    ]
    known = [start for start in starts if start is not None]
    if not known or len(known) < len(starts) or declared.start is None:
        return None
    return max(known) if max(known) < declared.start else None


def _rewritten(
    name: str, text: str, system: str, period: str | None, parameters: Mapping[str, str], *, as_json: bool
) -> tuple[str, list[dict[str, Any]]]:
    """A query of another system and its changes; ends the command if changes are left to a person."""
    rewritten, notices = rewrite_query(
        text,
        entity=name,
        file=f"{name}.sql",
        system=system,
        period=Period.parse(period or "day"),
        parameters=parameters,
    )
    rewrites = rewrites_as_data(rewritten, notices)
    if not as_json:
        print_rewrites(rewrites)
    if rewritten.left:
        if as_json:
            print_json({"query": rewritten.text, "rewrites": rewrites})
        else:
            print_unfinished(rewritten.text)
        raise SystemExit(ExitCode.FAILED)
    return rewritten.text.strip() + "\n", rewrites


def _past(entity: Entity) -> dict[str, int | str | None]:
    """Number of slices that are over already, with the first and the last."""
    from tidemark.dependency_model.graph import DependencyGraph  # noqa: PLC0415 - keeps --help fast

    keys = [slice_.key for slice_ in DependencyGraph.build([entity]).slices(entity.name, datetime.now(UTC))]
    return {"slices": len(keys), "first": keys[0] if keys else None, "last": keys[-1] if keys else None}


def _past_in_words(past: Mapping[str, int | str | None]) -> str:
    if not past["slices"]:
        return "no slice has ended yet: the first one is computed at its time"
    return (
        f"{past['slices']} past slices ({past['first']} .. {past['last']}) are computed once Dagster has loaded it: "
        "`start:` in its YAML, or --from, excludes earlier ones"
    )


def write_files(draft: Draft) -> Entity:
    """The entity of a draft after its files were written.

    Raises EntityError if it is invalid, and removes the files.
    """
    draft.write()
    _, read = read_project()
    own = {f"{draft.folder.name}/{path.name}" for path in draft.files}
    problems = (*read.problems, *read.differences)
    wrong = [problem for problem in problems if (problem.where or "").partition(":")[0] in own]
    if wrong:
        draft.remove()
        raise wrong[0]
    return read.entities[draft.name]


def _checked_name(name: str) -> str:
    """The name, which becomes a file name. Raises EntityError for an invalid one."""
    from pydantic import TypeAdapter, ValidationError  # noqa: PLC0415 - keeps --help fast

    from tidemark.dependency_model.entity.field_types import NameField  # noqa: PLC0415

    try:
        return TypeAdapter[str](NameField).validate_python(name)
    except ValidationError as error:
        raise EntityError(
            "invalid name of an entity", expected="letters, digits and _", found=quote_value(name)
        ) from error


def _of_known_entities(offsets: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The stated offsets. Raises EntityError for an unknown table."""
    known = read_project()[1].entities if offsets else {}
    for table, _ in offsets:
        if table not in known:
            raise EntityError("unknown entity", found=quote_value(table), hint=did_you_mean(table, known))
    return offsets


def _layer_folder(settings: Settings, layer: str) -> Path:
    """The folder of a layer. Raises EntityError for an unknown layer, or a folder outside of the project."""
    if layer not in settings.layers:
        raise EntityError(
            "unknown layer",
            expected=f"one of {', '.join(settings.layers)}",
            found=quote_value(layer),
            hint=did_you_mean(layer, settings.layers)
            or f"choose with --layer, or add it to `layers` in {PROJECT_FILE}",
        )
    folder = settings.declarations / layer
    if not folder.resolve().is_relative_to(settings.root.resolve()):
        raise EntityError("the layer's folder is a link that leaves the project", where=str(folder))
    return folder


def _draft(name: str, text: str | None, period: str | None, folder: Path, start: str | None) -> Draft:
    keys: tuple[str, ...] = ()
    guessed = "day"
    if text is None:
        sql = _stub(period or guessed)
    else:
        sql = text.rstrip().rstrip(";").rstrip() + "\n"
        keys, guessed = _keys_and_period(sql, f"{name}.sql")
    lines = [f"description: {name.replace('_', ' ').capitalize()}.", f"period: {period or guessed}"]
    lines += [f"start: {start}"] if start else []
    lines += [f"quality: [{{unique: [{', '.join(keys)}]}}]"] if keys else []
    return Draft(folder, name, sql, "\n".join(lines) + "\n")


def _stub(period: str) -> str:
    """A query of one day of the first table with slices, with the table's partition columns."""
    from tidemark.dependency_model.lineage.partition_clause import value_on_slice  # noqa: PLC0415 - keeps --help fast
    from tidemark.dependency_model.time.partition_columns import time_columns  # noqa: PLC0415

    entities = sorted(read_project()[1].entities.items())
    upstream, times = next(
        ((name, entity.times) for name, entity in entities if entity.times), ("some_table", time_columns(Period.DAY))
    )
    of_days = [column for column in times if {"HH", "mm"}.isdisjoint(column.units)]
    return _STUB.format(
        period=period,
        upstream=upstream,
        columns=", ".join(column.name for column in of_days),
        condition=" AND ".join(f"{column.name} = {value_on_slice(column, Period.DAY)}" for column in of_days),
    )


def _keys_and_period(sql: str, file: str) -> tuple[tuple[str, ...], str]:
    """Grouping columns that identify a row, and the period of the query's parameters. Raises QueryError."""
    from sqlglot import exp  # noqa: PLC0415 - keeps --help fast

    from tidemark.dependency_model.lineage.parsed_query import read_query  # noqa: PLC0415
    from tidemark.dependency_model.lineage.select_text import select_text  # noqa: PLC0415

    query = read_query(select_text(sql, file=file).text, file=file)
    names = query.parameters()
    period = "5min" if "biz_minute" in names else "hour" if "biz_hour" in names else "day"
    group = query.tree.args.get("group")
    columns = (
        {column.alias_or_name for column in query.tree.expressions} if isinstance(query.tree, exp.Select) else set()
    )
    grouped = group.expressions if group else []
    keys = tuple(key.name for key in grouped if isinstance(key, exp.Column))
    return (keys if len(keys) == len(grouped) and columns.issuperset(keys) else ()), period
