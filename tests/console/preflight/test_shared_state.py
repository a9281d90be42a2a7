"""What `tidemark doctor` says of a state store that hosts share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.state_store.conftest import empty_database
from tidemark.console.preflight.shared_state import shared_state
from tidemark.state_store.database import Database
from tidemark.state_store.worker_hosts import HostPool, WorkerHosts
from tidemark.state_store.worker_runs import WorkerRuns
from tidemark.system.free_port import LOOPBACK, free_port
from tidemark.system.settings import Settings
from tidemark.warm_runs.host_slots import SharedCapacities

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.components.postgres import Postgres

POOL = HostPool(2, "default=2", "code")


def verdicts(settings: Settings) -> Sequence[tuple[str, str]]:
    return [(finding.verdict, finding.found) for finding in shared_state(settings)][1:]


def test_a_store_in_a_file_is_not_checked(tmp_path: Path) -> None:
    assert shared_state(Settings.at(tmp_path)) == []


def test_a_server_that_is_down_is_unreachable_and_its_password_is_not_shown(tmp_path: Path) -> None:
    state = f"postgresql+psycopg2://tide:secret@{LOOPBACK}:{free_port()}/tidemark"
    (finding,) = shared_state(Settings.at(tmp_path, state=state))
    assert (finding.subject, finding.verdict) == ("State store", "unreachable")
    assert "TIDEMARK_STATE" in finding.to_do
    assert "secret" not in str(finding)


def test_a_setting_that_names_no_server_is_a_problem(tmp_path: Path) -> None:
    (finding,) = shared_state(Settings.at(tmp_path, state="mysql://tide:secret@host/tidemark"))
    assert finding.verdict == "problem"
    assert "secret" not in str(finding)


@pytest.mark.components
def test_hosts_come_and_go(postgres_server: Postgres, tmp_path: Path) -> None:
    settings = Settings.at(tmp_path, state=empty_database(postgres_server.url, tmp_path), pools="default=2")
    none = "no host is alive: each host executes its own runs"
    assert verdicts(settings) == [("ok", none)]
    database = Database.of(settings)
    hosts, runs, shared = WorkerHosts(database), WorkerRuns(database), SharedCapacities(settings)
    token = hosts.join("a", "a", POOL)
    assert runs.offer("run", "code", "launcher")
    hosts.renew("a", token, POOL, 1)
    assert verdicts(settings) == [("ok", "a (1 of 2 slots); waiting runs: 1")]
    assert shared["default"] == 2
    assert shared.figures() == {"there": 1, "slots": 2, "running": 1}
    hosts.join("b", "b", HostPool(3, "default=3", "other"))
    assert verdicts(settings) == [
        ("warning", "a (1 of 2 slots), b (0 of 3 slots); waiting runs: 1; they have different code")
    ]
    hosts.leave("a", token)
    hosts.leave("b", 1)
    assert verdicts(settings) == [("warning", "no host is alive; waiting runs: 1")]
    database.close()
