"""One reconciliation with storage by a command, under the lease of the center."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tidemark.center.center import DependencyCenter
from tidemark.center.center_tick import first_start
from tidemark.center.detectors.storage import StorageDetector
from tidemark.center.errors import AnotherCenterError
from tidemark.center.leadership import Leadership, holder_name
from tidemark.state_store.lease import Lease
from tidemark.system.utc_clock import utc_now

if TYPE_CHECKING:
    from tidemark.center.detectors.storage import StorageReport
    from tidemark.state_store.store import StateStore
    from tidemark.warehouse.warehouse import Warehouse

_WHO: Final = "catalog"
_LEASE_SECONDS: Final = 30.0


def reconcile_storage(warehouse: Warehouse, store: StateStore, *, verify: bool) -> StorageReport:
    """Check every table. Raises AnotherCenterError while a host is active, FencedError if one took over."""
    lease = Lease(store.database, holder_name(_WHO), _LEASE_SECONDS)
    held = lease.hold()
    if held.fencing_token is None:
        raise AnotherCenterError.of(held.holder)
    with Leadership(lease):
        store.write.fence = lease.fence
        center = DependencyCenter(warehouse.graph, store, since=first_start(warehouse), clock=utc_now, who=_WHO)
        return StorageDetector(warehouse, center, store).poll(verify=verify)
