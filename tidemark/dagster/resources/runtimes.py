"""Runtimes for the engine from a run's resources, because the engine does not know Dagster."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from tidemark.compute.runtime import Runtime
from tidemark.dagster.resources.spark import SparkResource
from tidemark.strict_json import json_text

if TYPE_CHECKING:
    from tidemark.system.settings import Settings
    from tidemark.warehouse.warehouse import Warehouse


class EngineResource(Protocol):
    """A resource that decides some of the settings."""

    def as_settings(self) -> dict[str, Any]: ...


class Runtimes:
    """The runtimes of a warehouse, one for each configuration of runs in this process.

    Dagster makes new resources for each run. Expensive parts outlive the run in a warm worker: analysed plans of the
    filter recorder, the capture's state, connections.
    """

    def __init__(self, warehouse: Warehouse) -> None:
        self._warehouse = warehouse
        self._known: dict[tuple[Settings, str], Runtime] = {}

    def of(self, *resources: EngineResource) -> Runtime:
        """The runtime with these resources' settings, and otherwise the warehouse's."""
        said = {name: value for resource in resources for name, value in resource.as_settings().items()}
        settings = self._warehouse.settings.model_copy(update=said)
        spark = next((resource for resource in resources if isinstance(resource, SparkResource)), None)
        key = settings, json_text(spark.spark_config if spark else {}, sort_keys=True)
        if key not in self._known:
            warehouse = replace(self._warehouse, settings=settings)
            self._known[key] = Runtime(warehouse, spark.start) if spark else Runtime(warehouse)
        return self._known[key]
