"""The compose file and its settings: whole, pinned, on this machine only, and the same as what the code starts.

That the containers come up takes a container engine, which the tests do without.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.project import CHECKOUT
from tidemark.console.servers import kafka, kafka_connect, mariadb

DEPLOY = CHECKOUT / "deploy"
INSTANCES = ("a", "b")
# Where containers reach each other, and the host them.
PLACES = frozenset(
    {"listeners", "advertised.listeners", "listener.security.protocol.map", "inter.broker.listener.name"}
)


@pytest.fixture(scope="module")
def compose() -> Any:
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))


def properties(name: str) -> dict[str, str]:
    lines = (DEPLOY / name).read_text(encoding="utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def test_every_service_is_pinned_and_asked_whether_it_is_well(compose: Any) -> None:
    assert set(compose["services"]) == {"database-a", "database-b", "kafka", "connect"}
    for name, service in compose["services"].items():
        assert re.search(r":\d+\.\d+\.\d+", service["image"]), name
        check = service["healthcheck"]
        assert check["test"], name
        assert check["interval"], name
        assert check["retries"] > 10, name


def test_images_are_built_from_pinned_ones() -> None:
    text = (DEPLOY / "servers.Dockerfile").read_text(encoding="utf-8")
    bases = re.findall(r"^FROM (\S+)", text, flags=re.MULTILINE)
    assert len(bases) == 2
    assert all(re.search(r":\d+\.\d+\.\d+", base) for base in bases)
    lines = re.findall(r"^COPY (?!--from)(.*) \S+$", text, flags=re.MULTILINE)
    copied = [path for line in lines for path in line.split()]
    assert copied
    assert all((CHECKOUT / path).is_file() for path in copied)


def test_the_image_has_the_jars_of_the_list() -> None:
    text = (DEPLOY / "servers.Dockerfile").read_text(encoding="utf-8")
    assert "sha256sum --check --strict --quiet /build/jars.sha256" in text


def test_services_have_only_needed_rights(compose: Any) -> None:
    for name, service in compose["services"].items():
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert service["read_only"] is True, name
        assert not service.get("privileged"), name
    adding = {name for name, service in compose["services"].items() if "cap_add" in service}
    assert adding == {"database-a", "database-b"}


def test_there_is_no_default_password() -> None:
    text = (DEPLOY / "compose.yaml").read_text(encoding="utf-8")
    settings = [line for line in text.splitlines() if re.search(r"PASSWORD: ", line) and "RANDOM" not in line]
    assert len(settings) == 2
    assert all(re.search(r"\$\{\w+:\?[^}]+\}$", line) for line in settings)


def test_nothing_listens_beyond_this_machine(compose: Any) -> None:
    ports = [port for service in compose["services"].values() for port in service.get("ports", ())]
    assert len(ports) == 4
    assert all(port.startswith("127.0.0.1:") for port in ports)


@pytest.mark.parametrize("instance", INSTANCES)
def test_databases_are_started_as_those_of_the_chain(compose: Any, instance: str) -> None:
    service, number = compose["services"][f"database-{instance}"], INSTANCES.index(instance) + 1
    own = [f"--server-id={number}", f"--gtid-domain-id={number}", "--log-bin=binlog"]
    assert service["command"] == [*own, *mariadb.CAPTURED]
    assert service["environment"]["MARIADB_USER"] == mariadb.USER
    assert service["environment"]["MARIADB_PASSWORD"] == f"${{{kafka_connect.PASSWORD_VARIABLE}:?set a password}}"


def test_kafka_has_the_settings_of_the_chain() -> None:
    actual, wanted = properties("kafka.properties"), kafka.settings(Path("/data/log"), 9092, 9093)
    assert {name: value for name, value in actual.items() if name not in PLACES} == {
        name: value for name, value in wanted.items() if name not in PLACES
    }
    assert "HOST://127.0.0.1:9092" in actual["advertised.listeners"]


def test_connect_has_the_settings_of_the_chain() -> None:
    wanted = kafka_connect.worker_settings("kafka:29092", "0.0.0.0", 8083, Path("/opt/servers/plugins"), Path("/data"))  # noqa: S104 - inside of its container
    assert properties("connect.properties") == wanted


@pytest.mark.parametrize("instance", INSTANCES)
def test_connectors_have_the_settings_of_the_chain(instance: str) -> None:
    source = kafka_connect.CapturedDatabase(
        instance, f"database-{instance}", 3306, 1001 + INSTANCES.index(instance), "school"
    )
    assert properties(f"cdc.{instance}.properties") == kafka_connect.connector_settings(
        "kafka:29092", source, "no_data"
    )


def test_no_password_is_in_a_file() -> None:
    for file in DEPLOY.glob("*.properties"):
        given = [value for name, value in properties(file.name).items() if name.endswith("password")]
        assert all(value.startswith("${env:") for value in given), file
