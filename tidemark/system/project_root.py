"""The project of this process: the folder of `tidemark.yaml`, whose packages hold the declarations.

The root is `TIDEMARK_ROOT` (`--root` sets it), else the nearest folder with a `tidemark.yaml` from the working folder
upwards. The engine's own folder does not matter.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tidemark.system.errors import NoProjectError

if TYPE_CHECKING:
    from collections.abc import Mapping

PROJECT_FILE: Final = "tidemark.yaml"
ROOT_VARIABLE: Final = "TIDEMARK_ROOT"
DECLARATIONS: Final = "warehouse_assets"
"""The folder of a project's declarations."""
DAGSTER_FOLDER: Final = "dagster_home"
"""The folder of a project with `dagster.yaml`, and with Dagster's storage by default."""


def project_root(env: Mapping[str, str] = os.environ) -> Path:
    """The absolute path of the project's folder. Raises NoProjectError, which lists the searched places."""
    given = env.get(ROOT_VARIABLE)
    if given:
        root = Path(given).expanduser().absolute()
        if not (root / PROJECT_FILE).is_file():
            raise NoProjectError.at(root, PROJECT_FILE)
        return root
    start = Path.cwd()
    for folder in (start, *start.parents):
        if (folder / PROJECT_FILE).is_file():
            return folder
    raise NoProjectError.above(start, PROJECT_FILE)


def importable(root: Path) -> None:
    """Make the project's packages importable, because only the engine is installed."""
    if str(root) not in sys.path[1:]:  # Dagster ignores the first entry, the folder of the script
        sys.path.append(str(root))


def make_project_importable(env: Mapping[str, str] = os.environ) -> None:
    """Make the packages of this process's project importable, if there is a project."""
    try:
        importable(project_root(env))
    except NoProjectError:  # a pool may serve a code location that is not a project of Tidemark
        return
