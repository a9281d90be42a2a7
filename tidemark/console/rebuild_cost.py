"""The time to compute slices again, from past runs and the pools (seed capability A9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tidemark.center.baseline import RunHistory
from tidemark.center.baseline.declared_slices import DeclaredSlices
from tidemark.center.baseline.open_slices import SliceSource
from tidemark.center.pools import Pools
from tidemark.dependency_model.baseline.repair_time import RepairTime, repair_time
from tidemark.dependency_model.status import RunState, SliceStatus

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime

    from tidemark.dependency_model.slice import Slice
    from tidemark.state_store.database import Database
    from tidemark.warehouse.warehouse import Warehouse

_THERE = SliceStatus(RunState.COMPLETED)


def rebuild_cost(
    warehouse: Warehouse, database: Database, slices: Sequence[Slice], now: datetime, of_new_code: Collection[str] = ()
) -> RepairTime:
    """The cost for slices whose other inputs exist, without other work. `of_new_code` slices have code that never ran.

    Raises StateStoreDownError.
    """
    entities = {slice_.entity for slice_ in slices}
    history = RunHistory.read(warehouse.graph, database, now, entities)
    pools = Pools.parse(warehouse.settings.pools)
    source = SliceSource(DeclaredSlices(warehouse.graph, pools), lambda _: _THERE, history, now, of_new_code)
    open_ = source.open_slices((), anew=slices)
    numbers = np.array([open_.number[slice_] for slice_ in slices], np.int64)
    return repair_time(open_.network, open_.durations, list(pools.capacity.values()), numbers)
