"""`--root`: the folder of the project, the same option in every command."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tidemark.system.project_root import ROOT_VARIABLE

if TYPE_CHECKING:
    from tidemark.system.settings import Settings
    from tidemark.warehouse.declarations import Declarations


def read_project() -> tuple[Settings, Declarations]:
    """The project's settings and declarations, with dependencies from SQL. Raises NoProjectError."""
    from tidemark.system.settings import Settings  # noqa: PLC0415 - keeps --help fast
    from tidemark.warehouse.declarations import read_declarations  # noqa: PLC0415

    settings = Settings.load()
    return settings, read_declarations(settings.declarations, settings)


def root_option() -> click.Option:
    """The option; its value goes into the environment of this process and its children."""
    return click.Option(
        ["--root"],
        type=click.Path(file_okay=False, path_type=Path),
        callback=_name_root,
        expose_value=False,
        help="The project's folder (default: TIDEMARK_ROOT, else the nearest one upwards that has a tidemark.yaml).",
    )


def add_root_option(command: click.Command) -> click.Command:
    """Add `--root` to a command, or to each command of a group."""
    if isinstance(command, click.Group):
        for member in command.commands.values():
            add_root_option(member)
    elif all("--root" not in parameter.opts for parameter in command.params):
        command.params.append(root_option())
    return command


def _name_root(_context: click.Context, _parameter: click.Parameter, root: Path | None) -> None:
    if root is not None:
        os.environ[ROOT_VARIABLE] = str(root.expanduser().absolute())
