"""The place of Dagster's runs, events, schedules and sensors, by its home's dagster.yaml.

No storage is opened, because that would create its tables.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from dagster._core.instance.ref import InstanceRef
from dagster_postgres.utils import pg_url_from_config

if TYPE_CHECKING:
    from collections.abc import Mapping


def storage_place(home: Path, env: Mapping[str, str]) -> Path | str | None:
    """The folder of its SQLite files, or the URL of its PostgreSQL database; None for any other storage.

    Raises Dagster's errors for a dagster.yaml that it cannot read.
    """
    data = InstanceRef.from_dir(str(home)).storage_data
    if data is None:
        return None
    given = _resolved(data.config_dict, env)
    if data.class_name == "DagsterSqliteStorage":
        return Path(given["base_dir"])
    return pg_url_from_config(given) if data.class_name == "DagsterPostgresStorage" else None


def _resolved(given: Any, env: Mapping[str, str]) -> Any:
    """The configuration with the values of `{env: NAME}`."""
    if not isinstance(given, dict):
        return given
    if set(given) == {"env"}:
        return env.get(given["env"], "")
    return {name: _resolved(value, env) for name, value in given.items()}
