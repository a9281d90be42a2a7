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
    """Give a home of the user's own, which has no dagster.yaml yet, ours: else Dagster would run with its defaults."""
    if not (home / _CONFIGURATION).exists():
        shutil.copy(settings.root / "dagster_home" / _CONFIGURATION, home / _CONFIGURATION)
