"""The name of an entity as an argument, with tab completion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable

    Command = Callable[..., Any]


def entity_argument(name: str = "entity", *, required: bool = True) -> Callable[[Command], Command]:
    """An argument that takes any text, with completion of entity names."""
    return click.argument(name, shell_complete=declared_names, required=required)


def declared_names(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """File names below the declarations, without parsing; empty outside of a project."""
    from tidemark.errors import TidemarkError  # noqa: PLC0415 - the tab key should not wait
    from tidemark.system.project_root import DECLARATIONS, project_root  # noqa: PLC0415

    try:
        root = project_root() / DECLARATIONS
    except TidemarkError:
        return []
    names = {path.stem for suffix in ("yaml", "sql", "py") for path in root.glob(f"*/*.{suffix}")}
    return sorted(name for name in names if name.startswith(incomplete))
