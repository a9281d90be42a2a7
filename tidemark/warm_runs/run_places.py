"""The place of a run, as the center stored it with the launch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.state_store.store import StateStore
from tidemark.warm_runs.run_identity import POOL_TAG, RUN_TAG, own_tag

if TYPE_CHECKING:
    from dagster import DagsterInstance

    from tidemark.system.settings import Settings


class RunPlaces:
    """Any user of Dagster's pages can give a run our tags. So a tag counts only if the center's launch agrees."""

    def __init__(self, instance: DagsterInstance, settings: Settings) -> None:
        self._instance, self._settings = instance, settings
        self._names = frozenset(place.name for place in settings.places)

    def place_of(self, run_id: str) -> str:
        """The place of a run; empty for a run with the Spark settings of this host. Raises StateStoreDownError."""
        run = self._instance.get_run_by_id(run_id) if self._names else None
        name = "" if run is None else own_tag(run, POOL_TAG)
        if run is None or name not in self._names:
            return ""
        store = StateStore.of(self._settings)
        try:
            asked = own_tag(run, RUN_TAG)
            launches = store.read.launches(store.read.slices_of_run(asked)).values()
            noted = {launch.facts.cluster for launch in launches if launch.facts.run_id == asked}
        finally:
            store.close()
        return name if name in noted else ""
