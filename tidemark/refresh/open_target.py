"""Opens the adapter of a target; its address and keys come from the environment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.olap.duckdb_store import DuckDbStore
from tidemark.olap.errors import OlapSettingError
from tidemark.olap.open_store import DUCKDB, open_store
from tidemark.refresh.adapters.database_tables import DatabaseTables
from tidemark.refresh.adapters.http_purge import HttpPurge
from tidemark.refresh.adapters.redis_keys import RedisKeys
from tidemark.refresh.adapters.webhook import Webhook
from tidemark.refresh.errors import TargetSettingError
from tidemark.system.refresh_target import ADDRESS_PREFIX, SIGNING_PREFIX, RefreshTarget, TargetKind
from tidemark.system.utc_clock import utc_now

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime
    from pathlib import Path

    from tidemark.refresh.refreshed_slice import RefreshAdapter

_EXPECTED = {
    TargetKind.POSTGRESQL: "postgresql+psycopg2://user:password@host/database",
    TargetKind.REDIS: "redis://:password@host:6379/0",
    TargetKind.PURGE: "http://host:port",
    TargetKind.WEBHOOK: "https://host/path",
}


def open_target(
    target: RefreshTarget, root: Path, env: Mapping[str, str], clock: Callable[[], datetime] = utc_now
) -> RefreshAdapter:
    """Create the adapter without connecting. Raises TargetSettingError, whose message leaves out the address."""
    if target.kind is TargetKind.DUCKDB:
        return DatabaseTables(target.name, DuckDbStore(root / target.file))
    address = env.get(ADDRESS_PREFIX + target.name.upper(), "").strip()
    if not address:
        raise TargetSettingError.of(target.name, _EXPECTED[target.kind])
    if target.kind is TargetKind.REDIS:
        return RedisKeys(target.name, address)
    if target.kind is TargetKind.PURGE:
        return HttpPurge(target, address)
    if target.kind is TargetKind.WEBHOOK:
        return Webhook(target.name, address, env.get(SIGNING_PREFIX + target.name.upper(), ""), clock)
    return _postgresql(target, address, root)


def _postgresql(target: RefreshTarget, address: str, root: Path) -> DatabaseTables:
    try:
        if address == DUCKDB:
            raise TargetSettingError.of(target.name, _EXPECTED[target.kind])
        return DatabaseTables(target.name, open_store(address, root))
    except OlapSettingError:
        raise TargetSettingError.of(target.name, _EXPECTED[target.kind]) from None
