"""Users' own Spark settings: a cluster's `spark-defaults.conf`, and the file of TIDEMARK_SPARK_CONF."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tidemark.system.errors import SparkConfError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tidemark.system.settings import Settings

DEFAULTS_FILE: Final = "spark-defaults.conf"
_PREFIX: Final = "spark."
_LINE: Final = re.compile(r"([^\s=:]+)(?:\s*[=:]\s*|\s+)(.*)")
_OTHERWISE: Final = {
    "spark.master": "set TIDEMARK_SPARK_MASTER",
    "spark.driver.memory": "set TIDEMARK_SPARK_MEMORY",
}


def user_settings(settings: Settings, required: Mapping[str, str], *, is_local: bool) -> dict[str, str]:
    """Users' settings by name, without the settings that Tidemark requires (`required`) or has its own settings for.

    A local session uses only the named file, because a cluster's settings would not fit it. On a cluster, the defaults
    of the installation (in `SPARK_CONF_DIR`, or below `SPARK_HOME`) apply first, then the file. Required settings
    silently override the defaults, because other programs share these. Raises SparkConfError if the named file cannot
    be read, has a line that is not a Spark setting, or contradicts a required one.
    """
    shared = {} if is_local else _shared_defaults()
    settings_by_name = {name: value for name, value in shared.items() if name not in {*required, *_OTHERWISE}}
    if settings.spark_conf is None:
        return settings_by_name
    for name, value, place in _settings_of(settings.spark_conf):
        if not name.startswith(_PREFIX):
            raise SparkConfError(
                "this is not a setting of Spark",
                expected=f"a name such as {_PREFIX}executor.memory",
                found=name,
                where=place,
            )
        if name in _OTHERWISE:
            raise SparkConfError(f"{name} is a setting of Tidemark", found=value, where=place, hint=_OTHERWISE[name])
        if required.get(name, value) != value:
            hint = "remove it: results depend on it"
            raise SparkConfError(
                f"{name} cannot be changed", expected=required[name], found=value, where=place, hint=hint
            )
        settings_by_name[name] = value
    return settings_by_name


def _shared_defaults() -> dict[str, str]:
    """The defaults of Spark's installation on this machine; empty without one."""
    folder, home = os.environ.get("SPARK_CONF_DIR"), os.environ.get("SPARK_HOME")
    path = Path(folder) / DEFAULTS_FILE if folder else Path(home) / "conf" / DEFAULTS_FILE if home else None
    if path is None or not path.is_file():
        return {}
    return {name: value for name, value, _ in _settings_of(path) if name.startswith(_PREFIX)}


def _settings_of(path: Path) -> Iterator[tuple[str, str, str]]:
    """Name, value and place of each line: a name, white space or an equals sign, a value, as Spark reads them."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SparkConfError("Spark's settings cannot be read", found=str(error), where=str(path)) from error
    for number, line in enumerate(map(str.strip, lines), start=1):
        if not line or line[0] in "#!":
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            raise SparkConfError("a setting without a value", found=line, where=f"{path}:{number}")
        yield match[1], match[2].strip(), f"{path}:{number}"
