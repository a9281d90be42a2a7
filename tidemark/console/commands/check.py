"""`tidemark check`: find every error in the declarations."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tidemark.console.exit_codes import ExitCode
from tidemark.console.outdated_slices import print_outdated
from tidemark.console.output import json_option, print_json, print_line, print_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import SparkSession

    from tidemark.errors import EntityError
    from tidemark.system.settings import Settings


@click.command()
@json_option
def check(*, as_json: bool) -> None:
    """Find every error in the declarations and their SQL, not only the first one.

    It reads the YAML and SQL files, and compares them with each other. It finds unknown keys and names (with the
    nearest known one), and SQL that cannot be parsed. It finds dependencies that differ from the SQL or cannot be
    inferred, and offsets between periods that do not fit. It finds unreachable states, cycles of slices, and tables
    whose slices have another period than the declaration.

    Python functions are called with empty inputs to see what they read. Spark analyses the queries with the columns of
    the existing tables: wrong columns, unknown functions, wrong types. Spark starts only if queries have changed since
    the last check. If it cannot start, the rest is checked, and a message says so.

    \b
    Exit codes: 0 no problem, 1 there are problems.
    With --json: {"entities", "dependencies", "problems": [{"where", "message", "expected", "found", "hint"}],
                  "notices": [{"where", "message"}], "outdated": {entity: [slice, ...]}, "not_analysed"}; notices are
                  ignored parts of a file, and slices that wait for the end of a longer period; outdated slices are
                  older than their query; neither is a problem; not_analysed is the reason why Spark did not analyse
                  the queries, null if it did.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    from tidemark.system.settings import Settings  # noqa: PLC0415 - keeps --help fast

    told = examine(Settings.load())
    if as_json:
        print_json(told.as_data())
    else:
        _print(told)
    raise SystemExit(ExitCode.FAILED if told.problems else ExitCode.OK)


@dataclass(frozen=True)
class Examination:
    """Size of a project, and all its problems."""

    entities: int
    dependencies: int
    problems: Sequence[EntityError]
    outdated: Mapping[str, Sequence[str]]
    not_analysed: str | None
    notices: Sequence[EntityError] = ()

    def as_data(self) -> dict[str, Any]:
        """The fields as values of JSON."""
        notices = [{"where": notice.where, "message": notice.message} for notice in self.notices]
        return {**vars(self), "problems": [_row(problem) for problem in self.problems], "notices": notices}


def examine(settings: Settings) -> Examination:
    """Check everything that the project declares."""
    from tidemark.api.warehouse_status import slices_older_than_their_code  # noqa: PLC0415
    from tidemark.compute.function_reads import read_with_dry_runs  # noqa: PLC0415 - keeps --help fast
    from tidemark.dependency_model.graph import DependencyGraph  # noqa: PLC0415
    from tidemark.state_store.errors import StateStoreDownError  # noqa: PLC0415
    from tidemark.system.garbage_collection import pause_collection  # noqa: PLC0415
    from tidemark.warehouse.declarations_against_settings import project_problems  # noqa: PLC0415
    from tidemark.warehouse.entity_files import locate  # noqa: PLC0415
    from tidemark.warehouse.kind_rules import unrunnable  # noqa: PLC0415
    from tidemark.warehouse.tables_of_other_periods import tables_of_other_periods  # noqa: PLC0415

    root = settings.declarations
    read = read_with_dry_runs(root, settings)
    problems = [*read.problems, *read.differences]
    unread = {Path(problem.where.partition(":")[0]).stem for problem in problems if problem.where}
    with pause_collection():
        graph = DependencyGraph.build(read.entities)
        between = [problem for problem in graph.problems() if problem.found not in unread]
    problems += [*project_problems(settings, read.entities.values()), *unrunnable(read, root)]
    problems += tables_of_other_periods(
        settings, root, read.entities.values(), {*read.queries, *read.functions}
    ).values()
    for problem in (*read.differences, *between):
        locate(problem, root)
    problems += between
    analysed, not_analysed = _analysed(settings, problems)
    dependencies = sum(len(graph.upstream_edges(name)) for name in graph)
    outdated: Mapping[str, Sequence[str]] = {}
    with suppress(StateStoreDownError):  # a project can be checked while its store is down
        outdated = slices_older_than_their_code(settings, read, read.entities.values())
    wrong = sorted([*problems, *analysed], key=_place)
    return Examination(len(read.entities), dependencies, wrong, outdated, not_analysed, read.notices)


def _analysed(settings: Settings, problems: Sequence[EntityError]) -> tuple[list[EntityError], str | None]:
    """Problems that Spark finds in the queries, and why it did not start. Spark runs only without other problems."""
    from tidemark.compute.query_analysis import QueryAnalysis  # noqa: PLC0415 - keeps --help fast
    from tidemark.system.errors import JavaMissingError, SparkStartError  # noqa: PLC0415
    from tidemark.warehouse.warehouse import load_warehouse  # noqa: PLC0415

    def start() -> SparkSession:
        from tidemark.spark.session import spark_session  # noqa: PLC0415 - only changed queries need Spark

        click.echo("starting Spark to analyse the queries that changed ...", err=True)
        return spark_session(settings)

    if problems:
        return [], "fix the problems above first"
    try:
        return [*QueryAnalysis(load_warehouse(settings), start).problems().values()], None
    except (JavaMissingError, SparkStartError) as error:
        return [], error.message


def _place(problem: EntityError) -> tuple[str, int]:
    file, _, place = (problem.where or "").partition(":")
    line = place.partition(":")[0]
    return file, int(line) if line.isdecimal() else 0


def _row(problem: EntityError) -> dict[str, str | None]:
    return {
        "where": problem.where,
        "message": problem.message,
        "expected": problem.expected,
        "found": problem.found,
        "hint": problem.hint,
    }


def _print(told: Examination) -> None:
    problems = told.problems
    print_outdated(told.outdated)
    for notice in told.notices:
        print_line(f"{notice.where}: {notice.message}", "yellow")
    if problems:
        columns = ["where", "problem", "expected", "found", "hint"]
        print_table(columns, [[value or "" for value in _row(problem).values()] for problem in problems])
    elif told.not_analysed:
        print_line(f"Spark did not analyse the queries: {told.not_analysed}", "yellow")
    count = f"{len(problems)} problem{'s' * (len(problems) != 1)}" if problems else "no problems"
    style = "bold red" if problems else "green"
    print_line(f"{told.entities} entities, {told.dependencies} dependencies: {count}", style)
