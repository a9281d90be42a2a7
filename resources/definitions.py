"""What the assets of this project run with; values come from tidemark.yaml and the environment."""

from typing import Any

from tidemark.dagster.resources import LakeIOManager, LakeResource, OlapResource, SparkResource, StateStoreResource
from tidemark.system.settings import Settings


def resources(settings: Settings) -> dict[str, Any]:
    """By the names that assets ask for. Add your own here."""
    state_store = StateStoreResource.of(settings)
    lake = LakeResource.of(settings, state_store)
    return {
        "spark": SparkResource.of(settings),
        "lake": lake,
        "lake_io_manager": LakeIOManager.of(settings, lake),
        "state_store": state_store,
        "olap": OlapResource.of(settings),
    }
