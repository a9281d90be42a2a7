"""The baselines of a project, from its declarations and its state store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.center.baseline import Baselines, RunHistory
from tidemark.center.baseline.declared_slices import DeclaredSlices
from tidemark.center.baseline.open_slices import SliceSource
from tidemark.center.pools import Pools
from tidemark.dependency_model.status import SliceStatus
from tidemark.state_store.store import StateStore
from tidemark.warehouse.warehouse import load_warehouse

if TYPE_CHECKING:
    from datetime import datetime

    from tidemark.dependency_model.slice import Slice
    from tidemark.system.settings import Settings

_UNKNOWN = SliceStatus()


def project_baselines(settings: Settings, now: datetime, entity: str | None = None) -> Baselines:
    """Baselines of all entities or one. Without computed slices there is no history, and everything waits.

    Raises StateStoreDownError and UnknownEntityError.
    """
    graph = load_warehouse(settings).graph
    statuses: dict[Slice, SliceStatus] = {}
    history = RunHistory(graph, ())
    if settings.state or settings.state_db.exists():
        store = StateStore.of(settings)
        _, currents = store.read.everything()
        statuses = {current.slice: current.status for current in currents}
        history = RunHistory.read(graph, store.database, now)
        store.close()
    declared = DeclaredSlices(graph, Pools.parse(settings.pools))
    source = SliceSource(declared, lambda slice_: statuses.get(slice_, _UNKNOWN), history, now)
    return Baselines(source, None if entity is None else [entity])
