"""`tidemark init`: a new project."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from tidemark.console.output import json_option, print_json, print_line
from tidemark.console.project_files import empty_files, sample_files, write_project

_SAMPLE_STEPS: Final = ("tidemark demo", "tidemark check", "tidemark up")
_OWN_STEPS: Final = (
    "tidemark new orders --files '/path/to/exports/dt={key}'   a folder of CSV, JSON lines or Parquet a day",
    "tidemark new dws_orders_1d --query orders.sql             SELECT ... FROM orders WHERE dt = :biz_date ...",
    "tidemark check",
    "tidemark up",
)


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--empty", is_flag=True, help="Declare no table yet (the default).")
@click.option("--sample", type=click.Choice(["school"]), help="With the tables of the recording of `tidemark demo`.")
@click.option("--time-zone", help="Where days and hours begin, such as Europe/Paris (default: UTC; the sample's own).")
@json_option
def init(folder: Path, *, empty: bool, sample: str | None, time_zone: str | None, as_json: bool) -> None:
    """Write a new project into FOLDER: settings, Dagster's files, folders for tables, and a test.

    \b
    Exit codes: 0 written, 1 the folder holds files already (nothing is written), 2 called wrongly.
    With --json: {"root", "files": [...]}.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    if empty and sample:
        raise click.UsageError("choose one of --empty and --sample")
    if time_zone:
        _require_known_zone(time_zone)
    if sample:
        files = write_project(folder, sample_files(), time_zone)
    else:
        files = write_project(folder, empty_files(), time_zone or "UTC")
    if as_json:
        print_json({"root": str(folder.absolute()), "files": [str(path) for path in files]})
        return
    print_line(f"wrote {len(files)} files into {folder}", "bold green")
    print_line(f"  cd {folder}")
    for line in _SAMPLE_STEPS if sample else _OWN_STEPS:
        print_line(f"  {line}")


def _require_known_zone(name: str) -> None:
    from tidemark.dependency_model.time.zone import iana_name  # noqa: PLC0415 - keeps --help fast
    from tidemark.errors import CalendarError  # noqa: PLC0415 - likewise

    try:
        iana_name(name)
    except CalendarError as error:
        raise click.BadParameter(str(error), param_hint="--time-zone") from error
