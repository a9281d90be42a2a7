"""Values of environment variables in connection settings: filled in as late as possible, and masked in every text.

`${PARTNER_URL}` is a variable. A value that was filled in is a secret, and so is a password inside it. The folders of
the project have the names of their settings, `${TIDEMARK_DATA}`, and are not secrets. A relative path is below the
project's folder.
"""

from __future__ import annotations

import re
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, unquote

from tidemark.crawl.errors import ProbeSettingError
from tidemark.system.table_location import ObjectLocation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.system.settings import Settings
    from tidemark.system.table_location import TableLocation

_VARIABLE: Final = re.compile(r"\$\{([A-Za-z_]\w*)\}")
_USER_INFO: Final = re.compile(r"://([^/@\s]*)@")
_SETTING: Final = re.compile(r"[?&][^=&#]+=([^&#]+)")
_MASK: Final = "***"
_LEAST: Final = 3
"""Shorter values are not masked: they occur in every message, and no password is that short."""


class ConnectionSecrets:
    """The variables of one process, and `folders`, which are not secrets, by name. Safe between threads.

    `lake` is the location of the project's own tables, `root` its folder.
    """

    def __init__(
        self,
        env: Mapping[str, str],
        folders: Mapping[str, str] | None = None,
        lake: TableLocation | None = None,
        root: Path | None = None,
    ) -> None:
        self._env, self._folders, self._lake, self._root = env, folders or {}, lake, root
        self._values, self._lock = set[str](), Lock()

    @classmethod
    def of(cls, settings: Settings, env: Mapping[str, str]) -> ConnectionSecrets:
        """The variables of a project, with the folders in its settings."""
        folders = {"DATA": settings.data, "WAREHOUSE": settings.warehouse, "LANDING": settings.landing}
        named = {f"TIDEMARK_{name}": str(path) for name, path in folders.items()}
        return cls(env, named, settings.warehouse, settings.root)

    def lake_options(self, table: str) -> dict[str, str]:
        """The options by which delta-rs reaches a table of the lake; empty for a table elsewhere."""
        lake = self._lake
        return lake.storage_options if isinstance(lake, ObjectLocation) and table.startswith(f"{lake}/") else {}

    def fill(self, text: str) -> str:
        """The text with the values of its variables. Raises ProbeSettingError for an unset variable."""
        return _VARIABLE.sub(self._value, text)

    def place(self, text: str) -> str:
        """The filled-in path, or address of an object store. Raises ProbeSettingError."""
        filled = self.fill(text)
        return filled if self._root is None or "://" in filled else str(self._root / Path(filled).expanduser())

    def mask(self, text: str) -> str:
        """A text of a driver or a server without the values that were filled in."""
        with self._lock:
            values = sorted(self._values, key=len, reverse=True)
        for value in values:
            text = text.replace(value, _MASK)
        return text

    def _value(self, match: re.Match[str]) -> str:
        if match[1] in self._folders:
            return self._folders[match[1]]
        value = self._env.get(match[1])
        if not value:
            raise ProbeSettingError(
                "an environment variable that a probe names is not set",
                where=match[1],
                hint=f"set {match[1]} for the center and for Dagster's code location",
            )
        with self._lock:
            self._values |= _forms(value)
        return value


def _forms(value: str) -> set[str]:
    """The value, its password, and its parameters, also in their URL forms."""
    inner = [part for info in _USER_INFO.findall(value) for part in info.split(":")[1:]]
    inner += _SETTING.findall(value)
    forms = {form for text in (value, *inner) for form in (text, quote(text, safe=""), unquote(text), repr(text)[1:-1])}
    return {form for form in forms if len(form) >= _LEAST}
