"""`tidemark workers`: what cannot be shared is refused, and --list says who is there."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import yaml
from click.testing import CliRunner, Result

from tests.state_store.conftest import empty_database
from tests.warm_runs.warm_home import write_home
from tidemark.console.exit_codes import ExitCode
from tidemark.console.main import main
from tidemark.state_store.database import Database
from tidemark.state_store.worker_hosts import HostPool, WorkerHosts

if TYPE_CHECKING:
    from pathlib import Path

    from tests.components.postgres import Postgres


def asked(folder: Path, *arguments: str, **env: str) -> Result:
    given = {"TIDEMARK_DATA": str(folder / "data"), "DAGSTER_HOME": str(folder / "home"), **env}
    return CliRunner().invoke(main, ["workers", *arguments], env=given)


def test_a_state_store_of_this_machine_is_refused(tmp_path: Path) -> None:
    write_home(tmp_path / "home")
    result = asked(tmp_path)
    assert result.exit_code == ExitCode.FAILED
    assert "other hosts cannot share the state store" in result.stderr
    assert "TIDEMARK_STATE" in result.stderr


def test_without_hosts_the_list_says_so(tmp_path: Path) -> None:
    assert asked(tmp_path, "--list").stdout.startswith("No host has taken runs")
    assert json.loads(asked(tmp_path, "--list", "--json").stdout) == {"hosts": []}


@pytest.mark.components
def test_on_a_server(postgres_server: Postgres, tmp_path: Path) -> None:
    state, dagster = (empty_database(postgres_server.url, tmp_path) for _ in range(2))
    write_home(tmp_path / "home")
    refused = asked(tmp_path, TIDEMARK_STATE=state)
    assert (refused.exit_code, "share Dagster's own storage" in refused.stderr) == (ExitCode.FAILED, True)
    home = tmp_path / "home" / "dagster.yaml"
    home.write_text(
        yaml.safe_dump({**yaml.safe_load(home.read_text()), "storage": {"postgres": {"postgres_url": dagster}}})
    )

    hosts = WorkerHosts(Database(state))
    token = hosts.join("big", "another home", HostPool(4, "default=3, heavy=1", "code 1"))
    hosts.join("small", "a third home", HostPool(1, "default=1", "code 2"))
    hosts.renew("big", token, HostPool(4, "default=3, heavy=1", "code 1"), 2)
    taken = asked(tmp_path, TIDEMARK_STATE=state, TIDEMARK_HOST="big")
    assert (taken.exit_code, "other warm workers have the name big" in taken.stderr) == (ExitCode.TRY_AGAIN, True)
    shown = asked(tmp_path, "--list", TIDEMARK_STATE=state).stdout
    assert "there\tbig\t4\t2\tdefault=3, heavy=1\t" in shown
    assert "The hosts have different code" in shown
    hosts.leave("big", token)
    hosts.database.close()
    told = json.loads(asked(tmp_path, "--list", "--json", TIDEMARK_STATE=state).stdout)["hosts"]
    assert [(host["host"], host["is_there"], host["code"]) for host in told] == [
        ("big", False, "code 1"),
        ("small", True, "code 2"),
    ]
