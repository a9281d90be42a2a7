"""Where Dagster keeps its storage."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from resources.settings import Settings

_CONFIGURATION: Final = "dagster.yaml"


def dagster_home(settings: Settings, env: Mapping[str, str]) -> Path:
    """DAGSTER_HOME as an absolute path (Dagster takes no other); dagster_home/ beside the code unless it is set."""
    given = env.get("DAGSTER_HOME")
    return Path(given).expanduser().absolute() if given else settings.root / "dagster_home"


def prepare_home(settings: Settings, home: Path) -> None:
    """Create the folder, and give one that has no dagster.yaml ours: else Dagster would run with its defaults."""
    home.mkdir(parents=True, exist_ok=True)
    if not (home / _CONFIGURATION).exists():
        shutil.copy(settings.root / "dagster_home" / _CONFIGURATION, home / _CONFIGURATION)
