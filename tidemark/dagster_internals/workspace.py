"""Reads workspace.yaml. It is separate from code_locations, because workers do not need its imports."""

from dagster._core.workspace.load import location_origins_from_yaml_paths

__all__ = ["location_origins_from_yaml_paths"]
