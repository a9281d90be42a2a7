"""`tidemark check`: everything that is wrong with the declarations, at once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tidemark.console.exit_codes import ExitCode
from tidemark.console.outdated_slices import print_outdated
from tidemark.console.output import json_option, print_json, print_line, print_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tidemark.errors import EntityError
    from tidemark.system.settings import Settings


@click.command()
@json_option
def check(*, as_json: bool) -> None:
    """Check every declaration and report everything that is wrong, not only the first error.

    Reads the YAML and SQL files below the folder of declarations, each by itself and all of them together: unknown keys
    and names (with the nearest known one), SQL that cannot be read, dependencies that differ from what the SQL reads or
    that it leaves open, offsets that have no meaning between two periods, states that nobody reaches, and slices that
    would wait for themselves, shown as the way round.

    What a Python function reads is told by a dry run over empty inputs. Spark starts for those that changed since the
    last check, and for no other.

    \b
    Exit codes: 0 nothing is wrong, 1 something is.
    With --json: {"entities", "dependencies", "problems": [{"where", "message", "expected", "found", "hint"}],
                  "outdated": {entity: [slice, ...]}}; outdated slices are older than their query, and no problem.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    from tidemark.system.settings import Settings  # noqa: PLC0415 - keeps --help fast

    entities, dependencies, problems, outdated = examine(Settings.load())
    if as_json:
        rows = [_row(problem) for problem in problems]
        print_json({"entities": entities, "dependencies": dependencies, "problems": rows, "outdated": outdated})
    else:
        print_outdated(outdated)
        _print(entities, dependencies, problems)
    raise SystemExit(ExitCode.FAILED if problems else ExitCode.OK)


def examine(settings: Settings) -> tuple[int, int, list[EntityError], Mapping[str, Sequence[str]]]:
    """How many entities and dependencies a project declares, all that is wrong with them, and outdated slices."""
    from tidemark.compute.function_reads import read_with_dry_runs  # noqa: PLC0415 - keeps --help fast
    from tidemark.console.warehouse_status import slices_older_than_their_code  # noqa: PLC0415
    from tidemark.dependency_model.graph import DependencyGraph  # noqa: PLC0415
    from tidemark.system.garbage_collection import collection_paused  # noqa: PLC0415
    from tidemark.warehouse.entity_files import locate  # noqa: PLC0415
    from tidemark.warehouse.kind_rules import unrunnable  # noqa: PLC0415
    from tidemark.warehouse.project_rules import project_problems  # noqa: PLC0415

    root = settings.declarations
    read = read_with_dry_runs(root, settings)
    problems = [*read.problems, *read.differences]
    unread = {Path(problem.where.partition(":")[0]).stem for problem in problems if problem.where}
    with collection_paused():
        graph = DependencyGraph.build(read.entities)
        between = [problem for problem in graph.problems() if problem.found not in unread]
    problems += [*project_problems(settings, read.entities.values()), *unrunnable(read, root)]
    for problem in (*read.differences, *between):
        locate(problem, root)
    dependencies = sum(len(graph.upstream_edges(name)) for name in graph)
    outdated = slices_older_than_their_code(settings, read, read.entities.values())
    return len(read.entities), dependencies, sorted(problems + between, key=_place), outdated


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


def _print(entities: int, dependencies: int, problems: list[EntityError]) -> None:
    if problems:
        columns = ["where", "problem", "expected", "found", "hint"]
        rows = [[value or "" for value in _row(problem).values()] for problem in problems]
        print_table(columns, rows)
    count = f"{len(problems)} problem{'s' * (len(problems) != 1)}" if problems else "nothing is wrong"
    print_line(f"{entities} entities, {dependencies} dependencies: {count}", "bold red" if problems else "green")
