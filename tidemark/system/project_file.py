"""`tidemark.yaml`: the settings of a project by name, with their lines.

Locations are relative to the file's folder. Secrets are only in the environment, because the file is in version
control.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from tidemark.dependency_model.entity.yaml_document import read_document
from tidemark.dependency_model.suggestion import did_you_mean
from tidemark.errors import EntityError
from tidemark.system.errors import SettingsError
from tidemark.system.project_root import PROJECT_FILE

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

_PASSWORD: Final = re.compile(
    r"://[^/@\s]*:[^/@\s]+@|[?&;,\s](?:password|passwd|pwd|secret|token)=[^&;\s]", re.IGNORECASE
)
_SECRET_NAME: Final = re.compile(r"password|passwd|secret|token|credential", re.IGNORECASE)


@dataclass(frozen=True)
class ProjectFile:
    """`values` by the setting's name; `places` has the place of each, such as `tidemark.yaml:3`."""

    values: Mapping[str, Any] = field(default_factory=dict)
    places: Mapping[str, str] = field(default_factory=dict)


def read_project_file(root: Path, known: Collection[str], secret: Collection[str]) -> ProjectFile:
    """The settings of a project's file. Raises SettingsError for unknown or unreadable settings and for secrets.

    `known` has the names of all settings, `secret` the settings that only the environment may have.
    """
    path = root / PROJECT_FILE
    try:
        document = read_document(path.read_text(encoding="utf-8"), str(path))
    except (EntityError, UnicodeDecodeError, OSError) as error:
        raise SettingsError("the project's settings cannot be read", found=str(error), where=str(path)) from error
    values = {} if document.values is None else document.values
    if not isinstance(values, dict):
        raise SettingsError("the project's settings are not a mapping", expected="name: value", where=str(path))
    places = {name: f"{path}:{document.line((name,))}" for name in values}
    for name, value in values.items():
        _refuse_secret(name, value, places[name], secret)
        _refuse_unknown(name, places[name], known)
    return ProjectFile(values, places)


def _refuse_secret(name: str, value: Any, place: str, secret: Collection[str]) -> None:
    if name in secret or _SECRET_NAME.search(name) or (isinstance(value, str) and _PASSWORD.search(value)):
        raise SettingsError(
            f"there is a secret in {PROJECT_FILE}",
            found=f"a password in `{name}`" if name not in secret else f"`{name}`, which holds passwords",
            expected="secrets only in the environment: this file is in version control",
            where=place,
            hint=f"remove it here and set the environment variable TIDEMARK_{name.upper()}; change the password",
        )


def _refuse_unknown(name: str, place: str, known: Collection[str]) -> None:
    if name not in known:
        raise SettingsError(
            f"unknown setting '{name}'",
            expected=f"one of {', '.join(sorted(known))}",
            where=place,
            hint=did_you_mean(name, known),
        )
