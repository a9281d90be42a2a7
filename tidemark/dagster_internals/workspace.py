"""Reading workspace.yaml; apart from code_locations, as workers need none of what it loads."""

from dagster._core.workspace.load import location_origins_from_yaml_paths

__all__ = ["location_origins_from_yaml_paths"]
