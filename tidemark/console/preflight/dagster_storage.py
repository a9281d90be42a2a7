"""Checks whether Dagster's storage is undamaged and belongs to this data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tidemark.system.check_finding import Finding

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tidemark.system.settings import Settings

_SUBJECT: Final = "Dagster's events"
_LOOKED_AT_BYTES: Final = 1 << 28
"""Larger files take long to read; a backup checks them."""
_DAMAGED: Final = (
    "stop all services, and restore a backup (docs/operations.md); or move the file away: completed slices stay so"
)


def dagster_storage(settings: Settings, home: Path, env: Mapping[str, str]) -> list[Finding]:
    """A finding if something is wrong; none if the storage is unused or on a server."""
    from tidemark.backup.dagster_files import FIRST, storage_of  # noqa: PLC0415 - only where it is asked
    from tidemark.console.dagster_server.dagster_home import require_own_home  # noqa: PLC0415
    from tidemark.errors import TidemarkError  # noqa: PLC0415
    from tidemark.system.sqlite_copies import damage_of  # noqa: PLC0415

    if not home.is_dir():
        return []
    try:
        require_own_home(settings.data, home)
        storage = storage_of(home, env)
    except TidemarkError as error:
        return [Finding(_SUBJECT, "problem", f"{error.message}: {error.found}", error.hint or "")]
    if isinstance(storage, str):
        return []
    files = [storage / name for name in FIRST]
    small = [file for file in files if file.is_file() and file.stat().st_size <= _LOOKED_AT_BYTES]
    damages = [f"{file}: {damage}" for file in small if (damage := damage_of(file))]
    return [Finding(_SUBJECT, "problem", damage, _DAMAGED) for damage in damages]
