"""The folder of Dagster's storage, and the data that it belongs to."""

from __future__ import annotations

import os
import shutil
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tidemark.console.dagster_server.errors import ForeignHomeError, HomeUnreadableError
from tidemark.console.project_files import TEMPLATE_OF_DAGSTER
from tidemark.system.files import close_to_others, private_directory, writable_directory
from tidemark.system.one_line import one_line
from tidemark.system.project_root import DAGSTER_FOLDER

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.system.settings import Settings

_CONFIGURATION: Final = "dagster.yaml"
_WAREHOUSE_ID: Final = "warehouse_id"


def dagster_home(settings: Settings, env: Mapping[str, str]) -> Path:
    """DAGSTER_HOME as an absolute path (Dagster needs one); the default is in the settings."""
    given = env.get("DAGSTER_HOME")
    return Path(given).expanduser().absolute() if given else settings.dagster_home


def prepare_home(settings: Settings, home: Path) -> None:
    """Create the folder; without a dagster.yaml, copy the project's, because Dagster would use its defaults.

    Raises HomeUnreadableError, and ForeignHomeError if its event log belongs to other data than `settings.data`: slices
    of the other data would count as complete.
    """
    private_directory(home)
    if not (home / _WAREHOUSE_ID).exists():
        # `init` and a clone create it with the account's default rights; it will hold rows of runs.
        close_to_others(home)
    _belong_together(writable_directory(settings.data), home)
    if not (home / _CONFIGURATION).exists():
        own = settings.root / DAGSTER_FOLDER / _CONFIGURATION
        shutil.copyfile(own if own.is_file() else TEMPLATE_OF_DAGSTER, home / _CONFIGURATION)
    _require_readable(home)


def require_own_home(data: Path, home: Path) -> None:
    """Raise ForeignHomeError if the home was used with other data."""
    ours, theirs = data / _WAREHOUSE_ID, home / _WAREHOUSE_ID
    if theirs.exists() and (not ours.exists() or ours.read_text() != theirs.read_text()):
        raise ForeignHomeError.of(data, home)


def _require_readable(home: Path) -> None:
    import yaml  # noqa: PLC0415 - `doctor` of a machine needs no Dagster
    from dagster import DagsterError  # noqa: PLC0415

    from tidemark.dagster_internals.storage_place import storage_place  # noqa: PLC0415

    try:
        storage_place(home, os.environ)
    except (DagsterError, yaml.YAMLError) as error:
        raise HomeUnreadableError.of(home / _CONFIGURATION, one_line(str(error))) from error


def _belong_together(data: Path, home: Path) -> None:
    """Whether both have the same random id, written at their first use."""
    require_own_home(data, home)
    ours, theirs = data / _WAREHOUSE_ID, home / _WAREHOUSE_ID
    if theirs.exists():
        return
    if not ours.exists():
        ours.write_text(uuid.uuid4().hex)
    theirs.write_text(ours.read_text())
