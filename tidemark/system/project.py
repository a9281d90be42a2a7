"""The project that this process works for: the folder of workspace.yaml, whose packages hold the declarations."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def importable(root: Path) -> None:
    """Let the project's packages be imported, wherever the process was started: only the engine is installed."""
    if str(root) not in sys.path[1:]:  # Dagster looks past the first, the folder of the script
        sys.path.append(str(root))
