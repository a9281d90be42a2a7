"""A lake in Google Cloud Storage or Azure: what pods need for it is in all of them, executors and Jobs among them."""

from __future__ import annotations

import pytest

from tests.deploy.chart import Document, Rendered, rendered
from tests.deploy.schemas.judge import problems
from tests.deploy.test_chart_network import METADATA, flows
from tests.deploy.test_chart_pods import SELECTOR

KEY_FILE = "/etc/tidemark/google/key.json"
IDENTITY = "azure.workload.identity/use"
CLIENT, TENANT = "00000000-0000-0000-0000-000000000001", "tenant.example"
AS_JOBS = ("runs.launcher=kubernetes", "center.enabled=false")


def variables(container: Document) -> dict[str, Document]:
    """How the object stores of two clouds are reached."""
    return {
        given["name"]: given for given in container.get("env", ()) if given["name"].startswith(("GOOGLE_", "AZURE_"))
    }


def engines(made: Rendered) -> dict[str, Document]:
    """The container of each component."""
    return {component: container for component, container in made.containers() if container["name"] == component}


@pytest.mark.parametrize("settings", [(), ("runs.launcher=warm", "center.enabled=true", "distribution.enabled=true")])
def test_googles_key_is_a_file_in_every_pod(settings: tuple[str, ...]) -> None:
    made = rendered("google", *settings)
    containers = engines(made)
    assert {"dagster", "capture", "executor", "center" if settings else "run"} <= set(containers)
    for component, container in containers.items():
        assert {name: given["value"] for name, given in variables(container).items()} == {
            "GOOGLE_APPLICATION_CREDENTIALS": KEY_FILE
        }, component
        assert {"name": "google", "mountPath": "/etc/tidemark/google", "readOnly": True} in container["volumeMounts"]
        (volume,) = [given for given in made.pods[component]["spec"]["volumes"] if given["name"] == "google"]
        assert volume["secret"] == {
            "secretName": "lake-key", "defaultMode": 0o440, "items": [{"key": "key.json", "path": "key.json"}],
        }  # fmt: skip
        assert made.pods[component]["spec"]["securityContext"]["fsGroup"] == 10001, "the file is its group's"


def test_without_a_key_no_pod_has_the_file() -> None:
    for container in engines(rendered("google", "objectStore.google.keySecret=")).values():
        assert variables(container) == {}
        assert "google" not in {mount["name"] for mount in container["volumeMounts"]}


def test_a_secret_of_azure_reaches_every_pod_with_the_identity_that_it_is_of() -> None:
    whose = (f"objectStore.azure.clientId={CLIENT}", f"objectStore.azure.tenantId={TENANT}")
    host = "objectStore.azure.authorityHost=https://login.example"
    for further in ((), AS_JOBS):
        made = rendered("azure", *whose, host, "secretVariables[0]=AZURE_CLIENT_SECRET", *further)
        for component, container in engines(made).items():
            given = variables(container)
            secret = given.pop("AZURE_CLIENT_SECRET")["valueFrom"]
            assert secret == {"secretKeyRef": {"name": "tidemark", "key": "AZURE_CLIENT_SECRET"}}, component
            assert {name: variable["value"] for name, variable in given.items()} == {
                "AZURE_CLIENT_ID": CLIENT, "AZURE_TENANT_ID": TENANT, "AZURE_AUTHORITY_HOST": "https://login.example",
            }, component  # fmt: skip


def test_an_accounts_key_reaches_every_pod() -> None:
    for container in engines(rendered("azure", "secretVariables[0]=AZURE_STORAGE_ACCOUNT_KEY")).values():
        assert set(variables(container)) == {"AZURE_STORAGE_ACCOUNT_KEY"}


@pytest.mark.parametrize("settings", [(), AS_JOBS])
def test_workload_identity_is_asked_for_in_all_pods_and_accounts(settings: tuple[str, ...]) -> None:
    made = rendered("azure", *settings)
    for component, pod in made.pods.items():
        assert pod["metadata"]["labels"][IDENTITY] == "true", component
        assert set(SELECTOR) <= set(pod["metadata"]["labels"])
    for document in made.workloads.values():
        assert IDENTITY not in document["spec"]["selector"]["matchLabels"]
    accounts = made.of("ServiceAccount")
    assert len(accounts) >= 2
    assert all("azure.workload.identity/client-id" in account["metadata"]["annotations"] for account in accounts)
    for container in engines(made).values():
        assert variables(container) == {}, "the webhook sets them"


@pytest.mark.parametrize("scenario", ["google", "azure"])
def test_the_pod_of_executors_is_one_of_the_api(scenario: str) -> None:
    assert problems(rendered(scenario).pods["executor"]) == []


NO_LABEL = "podLabels.azure\\.workload\\.identity/use="
GOOGLE_ACCOUNT = (
    "objectStore.google.keySecret=",
    "serviceAccount.annotations.iam\\.gke\\.io/gcp-service-account=lake@p",
)


@pytest.mark.parametrize(
    ("scenario", "settings", "asks"),
    [
        ("google", (), False),
        ("google", ("objectStore.google.keySecret=",), True),
        ("google", GOOGLE_ACCOUNT, True),
        ("azure", (), False),
        ("azure", (NO_LABEL,), True),
        ("azure", (NO_LABEL, "secretVariables[0]=AZURE_STORAGE_ACCOUNT_KEY"), False),
        ("plain", (), True),
        ("plain", ("secretVariables[0]=AWS_ACCESS_KEY_ID",), False),
        ("plain", ("serviceAccount.annotations.eks\\.amazonaws\\.com/role-arn=arn:aws:iam::0:role/r",), False),
    ],
)
def test_the_metadata_server_is_reached_where_nothing_else_gives_credentials(
    scenario: str, settings: tuple[str, ...], asks: bool
) -> None:
    made = rendered(scenario, *settings)
    for component in made.pods:
        out = flows(made, component, "egress")
        assert ("any", "443") in out, component
        assert (out >= METADATA) == asks, component
        assert bool(out & METADATA) == asks, component
