"""Where the declarations are, for every command that reads them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidemark.warehouse.declarations import Declarations

    Command = Callable[..., Any]

DECLARATIONS = Path(__file__).resolve().parents[2] / "warehouse_assets"


def declarations_of(root: Path) -> Declarations:
    """What is declared below a folder, dependencies from SQL included."""
    from tidemark.system.settings import Settings  # noqa: PLC0415 - keeps --help fast
    from tidemark.warehouse.declarations import read_declarations  # noqa: PLC0415

    return read_declarations(root, Settings.load())


def root_option(command: Command) -> Command:
    """The `--root` option, the same in every command."""
    return click.option(
        "--root",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        default=DECLARATIONS,
        help="Folder of declarations (default: warehouse_assets).",
    )(command)
