"""Resources with fixed fields: they get their values when definitions are loaded, and no run can change them.

Dagster makes a resource's values defaults that every run may replace. Here the schema for runs is empty. The values
come from an inner resource, as in Dagster's `configured`, so Dagster's pages still show them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dagster as dg
from dagster._config.pythonic_config.resource import ConfigurableResourceFactoryResourceDefinition
from dagster._core.definitions.definition_config_schema import (
    ConfiguredDefinitionConfigSchema,
    DefinitionConfigSchema,
)
from dagster._utils.cached_method import cached_method

if TYPE_CHECKING:
    from dagster import ResourceDefinition


class FixedResource(dg.ConfigurableResource[Any]):
    """The base of a fixed resource. Derive from it first."""

    @cached_method
    def get_resource_definition(self) -> ConfigurableResourceFactoryResourceDefinition:
        open_ = super().get_resource_definition()
        return ConfigurableResourceFactoryResourceDefinition(
            open_.configurable_resource_cls,
            open_.resource_fn,
            _FixedSchema(open_),
            open_.description,
            open_.nested_resources,
            open_.nested_partial_resources,
        )


class _FixedSchema(ConfiguredDefinitionConfigSchema):
    def __init__(self, open_: ResourceDefinition) -> None:
        self._open = open_.config_schema
        fixed = self._open.default_value if self._open.default_provided else {}
        super().__init__(open_, DefinitionConfigSchema(dg.Field({}, is_required=False)), fixed)

    @property
    def default_provided(self) -> bool:
        """Whether there are values, which Dagster's pages show."""
        return self._open.default_provided

    @property
    def default_value(self) -> dict[str, object]:
        """The configuration of a run, which is empty."""
        return {}

    @property
    def default_value_as_json_str(self) -> str:
        return self._open.default_value_as_json_str
