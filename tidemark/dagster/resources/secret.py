"""Addresses with passwords as configuration: shown as the environment variable that they come from, or masked."""

import os
from typing import Any, Final

import dagster as dg

from tidemark.system.settings import ENV_PREFIX

MASKED: Final[dict[str, Any]] = {"dagster__is_secret": True}
"""What makes Dagster show asterisks in the place of a field's value."""


def from_environment(setting: str, value: str) -> str:
    """The variable that a setting comes from, as Dagster names it on its pages; the value where it comes from none."""
    name = ENV_PREFIX + setting.upper()
    return dg.EnvVar(name) if value and os.environ.get(name) == value else value
