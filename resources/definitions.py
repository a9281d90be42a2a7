"""What the assets of this project run with; values come from tidemark.yaml and the environment."""

from typing import Any

import dagster as dg

from tidemark.dagster.resources import LakeResource, OlapResource, SparkResource, StateStoreResource
from tidemark.system.settings import Settings


def resources(settings: Settings) -> dict[str, dg.ConfigurableResource[Any]]:
    """By the names that assets ask for. Add your own here."""
    state_store = StateStoreResource.of(settings)
    return {
        "spark": SparkResource.of(settings),
        "lake": LakeResource.of(settings, state_store),
        "state_store": state_store,
        "olap": OlapResource.of(settings),
    }
