"""The resources of assets and jobs: Spark, the lake, the state store, the OLAP store.

Their values are the project's settings, unless the project sets others. A run's configuration cannot change them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidemark.dagster.resources.lake import LakeResource
from tidemark.dagster.resources.lake_io_manager import LakeIOManager
from tidemark.dagster.resources.olap import OlapResource
from tidemark.dagster.resources.spark import SparkResource
from tidemark.dagster.resources.state_store import StateStoreResource

if TYPE_CHECKING:
    import dagster as dg

    from tidemark.system.settings import Settings

__all__ = ["LakeIOManager", "LakeResource", "OlapResource", "SparkResource", "StateStoreResource", "engine_resources"]


def engine_resources(settings: Settings) -> dict[str, dg.ConfigurableResource[Any]]:
    """The resources of the engine's assets and jobs, by key."""
    state_store = StateStoreResource.of(settings)
    return {
        "spark": SparkResource.of(settings),
        "lake": LakeResource.of(settings, state_store),
        "state_store": state_store,
        "olap": OlapResource.of(settings),
    }
