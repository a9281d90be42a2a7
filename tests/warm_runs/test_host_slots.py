"""The slots of all hosts together: as they come and go, and this machine's own while there are none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.state_store.conftest import empty_database
from tidemark.center.pools import Pools
from tidemark.state_store.database import Database
from tidemark.state_store.worker_hosts import HostPool, WorkerHosts
from tidemark.system.settings import Settings
from tidemark.warm_runs.host_slots import SharedCapacities
from tidemark.warm_runs.run_queue import PooledRunQueue

if TYPE_CHECKING:
    from pathlib import Path

    from tests.components.postgres import Postgres


def test_with_a_store_in_a_file_no_host_is_read(tmp_path: Path) -> None:
    shared = SharedCapacities(Settings.at(tmp_path, pools="default=3, heavy=1"))
    assert dict(shared) == {"default": 3, "heavy": 1}
    assert not (tmp_path / "state.db").exists()


@pytest.mark.components
def test_two_hosts_of_two_slots_have_four(
    postgres_server: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, now = empty_database(postgres_server.url, tmp_path), [0.0]
    settings = Settings.at(tmp_path, state=url, pools="default=2, heavy=1")
    shared = SharedCapacities(settings, lambda: now[0])
    pools, hosts = Pools(shared), WorkerHosts(Database(url))
    assert dict(shared) == {"default": 2, "heavy": 1}
    token = hosts.join("a", "a", HostPool(2, "default=2", "code"))
    hosts.join("b", "b", HostPool(2, "default=2", "code"))
    assert pools.slots("default") == 2, "known since a moment ago"
    now[0] = 5.0
    assert pools.slots("default") == 4
    assert pools.slots("heavy") == 1, "no host has this pool: as many as are set here"
    monkeypatch.setenv("TIDEMARK_STATE", url)
    assert PooledRunQueue().get_run_queue_config().max_concurrent_runs == 4
    assert PooledRunQueue(max_concurrent_runs=3).get_run_queue_config().max_concurrent_runs == 3
    hosts.leave("a", token)
    now[0] = 10.0
    assert dict(shared) == {"default": 2, "heavy": 1}
    hosts.database.close()
