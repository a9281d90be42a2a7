"""The project that this process works for: the folder of `tidemark.yaml`, whose packages hold the declarations.

Its root is what `TIDEMARK_ROOT` names (`--root` sets it), else the nearest folder with a `tidemark.yaml` from the
working folder upwards. Where the engine itself is installed plays no part.
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
"""The folder of a project that holds its declarations."""
DAGSTER_FOLDER: Final = "dagster_home"
"""The folder of a project that holds `dagster.yaml`, and Dagster's storage unless told otherwise."""


def project_root(env: Mapping[str, str] = os.environ) -> Path:
    """The absolute path of the project's folder. Raises NoProjectError, which says where it looked."""
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
    """Let the project's packages be imported, wherever the process was started: only the engine is installed."""
    if str(root) not in sys.path[1:]:  # Dagster looks past the first, the folder of the script
        sys.path.append(str(root))


def make_project_importable(env: Mapping[str, str] = os.environ) -> None:
    """The same for the project that this process belongs to, if there is one."""
    try:
        importable(project_root(env))
    except NoProjectError:  # a pool may serve a code location that is no project of Tidemark
        return
