"""What Kafka Connect tells of its environment: the passwords that connectors need, and nothing of the operator's."""

from __future__ import annotations

import json
import os
import urllib.request
from typing import TYPE_CHECKING

import psutil
import pytest

from tests.components.availability import MARIADB, require
from tests.processes import command_line
from tidemark.console.servers.jars import jars
from tidemark.console.servers.kafka_connect import PASSWORD_VARIABLE, Connect, connect
from tidemark.console.servers.mariadb import mariadb
from tidemark.system.free_port import LOOPBACK

if TYPE_CHECKING:
    from pathlib import Path

    from tidemark.console.servers.kafka import Kafka

pytestmark = pytest.mark.components

CANARY = "canary-8f1d"
CLASS = "io.debezium.connector.mariadb.MariaDbConnector"


@pytest.mark.long
def test_only_allow_listed_variables_are_read(
    kafka_server: Kafka, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    require(MARIADB)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", CANARY)
    monkeypatch.setenv(f"X_{PASSWORD_VARIABLE}", CANARY)
    with (
        mariadb("guarded", 23, tmp_path / "database") as database,
        connect(jars(), kafka_server, [database], "school", tmp_path / "connect") as worker,
    ):
        assert CANARY not in psutil.Process(worker.server.pid).environ().values()
        assert database.password in _validate(worker, f"{PASSWORD_VARIABLE}_GUARDED")
        for name in ("AWS_SECRET_ACCESS_KEY", f"X_{PASSWORD_VARIABLE}", "PATH", "HOME"):
            answer = _validate(worker, name)
            assert f"is ${{env:{name}}}" in answer
            assert f"is {os.environ[name]}" not in answer
        for path in ("connectors?expand=info&expand=status", f"connectors/{_connector_name(worker)}/config"):
            told = _ask(worker, path)
            assert "${env:" in told
            assert database.password not in told
        shown = [word for process in psutil.Process().children(recursive=True) for word in command_line(process)]
        assert any("ConnectStandalone" in word for word in shown)
        assert not any(secret in word for word in shown for secret in (database.password, CANARY))
        listening = {
            connection.laddr[0]
            for connection in psutil.Process(worker.server.pid).net_connections("tcp")
            if connection.status == psutil.CONN_LISTEN
        }
        assert {address.removeprefix("::ffff:") for address in listening} == {LOOPBACK}


def _ask(worker: Connect, path: str) -> str:
    with urllib.request.urlopen(f"http://{LOOPBACK}:{worker.port}/{path}", timeout=90) as answer:
        text: str = answer.read().decode()
    return text


def _connector_name(worker: Connect) -> str:
    (name,) = json.loads(_ask(worker, "connectors"))
    return str(name)


def _validate(worker: Connect, variable: str) -> str:
    """What the worker answers to a connector's settings that ask for a variable."""
    value = f"is ${{env:{variable}}}"
    config = {"connector.class": CLASS, "name": value, "topic.prefix": value, "database.hostname": value}
    request = urllib.request.Request(
        f"http://{LOOPBACK}:{worker.port}/connector-plugins/{CLASS}/config/validate",
        json.dumps(config).encode(),
        {"Content-Type": "application/json"},
        method="PUT",
    )
    with urllib.request.urlopen(request, timeout=90) as answer:  # noqa: S310 - loopback
        text: str = answer.read().decode()
    return text
