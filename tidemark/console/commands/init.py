"""`tidemark init`: create a project."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

import click

from tidemark.console.output import json_option, print_json, print_line
from tidemark.console.project_files import empty_files, sample_files, tiny_files, write_project
from tidemark.dependency_model.time.zone import zone_info

_SCHOOL_STEPS: Final[tuple[str, ...]] = ("tidemark demo", "tidemark check", "tidemark up")
_TINY_STEPS: Final[tuple[str, ...]] = (
    "tidemark check",
    "tidemark up                                  copies two days of landing/orders, and computes two tables of them",
    "tidemark status                              in a second terminal: what is computed, and what waits",
    "tidemark show dws_city_sales_1d {yesterday}   once it is there",
)
_OWN_STEPS: Final[tuple[str, ...]] = (
    "tidemark check",
    "tidemark up          the Dagster UI; it is empty until a table exists",
    "If you have files, with a folder or a file for each day:",
    "tidemark new ods_orders --files '/path/to/orders/{{key}}.csv'",
    "All kinds of sources: docs/sources.md. Three tables to look at: tidemark init --sample tiny another_folder",
)


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--empty", is_flag=True, help="Declare no table yet (the default).")
@click.option(
    "--sample",
    type=click.Choice(["tiny", "school"]),
    help="tiny: three tables over two days of CSV. school: the tables of the recording of `tidemark demo`.",
)
@click.option("--time-zone", help="Where days and hours begin, such as Europe/Paris (default: UTC; the sample's own).")
@json_option
def init(folder: Path, *, empty: bool, sample: str | None, time_zone: str | None, as_json: bool) -> None:
    """Create a project in FOLDER: settings, Dagster's files, folders for tables, and a test.

    \b
    Exit codes: 0 written, 1 the folder has files already (nothing is written), 2 wrong usage.
    With --json: {"root", "files": [...]}.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    if empty and sample:
        raise click.UsageError("choose one of --empty and --sample")
    if time_zone:
        _require_known_zone(time_zone)
    if sample == "school":
        files, steps = write_project(folder, sample_files(), time_zone), _SCHOOL_STEPS
    else:
        files = write_project(folder, tiny_files() if sample else empty_files(), time_zone or "UTC")
        steps = _TINY_STEPS if sample else _OWN_STEPS
    if as_json:
        print_json({"root": str(folder.absolute()), "files": [str(path) for path in files]})
        return
    print_line(f"wrote {len(files)} files into {folder}", "bold green")
    print_line(f"  cd {folder}")
    yesterday = datetime.now(zone_info(time_zone or "UTC")).date() - timedelta(days=1)
    for line in steps:
        print_line(f"  {line.format(yesterday=yesterday)}")


def _require_known_zone(name: str) -> None:
    from tidemark.dependency_model.time.zone import iana_name  # noqa: PLC0415 - keeps --help fast
    from tidemark.errors import CalendarError  # noqa: PLC0415 - likewise

    try:
        iana_name(name)
    except CalendarError as error:
        raise click.BadParameter(str(error), param_hint="--time-zone") from error
