"""Addresses with passwords in configurations: shown as the environment variable's name, or masked."""

import os
from typing import Any, Final

import dagster as dg

from tidemark.system.settings import ENV_PREFIX

MASKED: Final[dict[str, Any]] = {"dagster__is_secret": True}
"""Makes Dagster show asterisks instead of a field's value."""


def from_environment(setting: str, value: str) -> str:
    """The variable of a setting, as Dagster shows it; the value if it does not come from a variable."""
    name = ENV_PREFIX + setting.upper()
    return dg.EnvVar(name) if value and os.environ.get(name) == value else value
