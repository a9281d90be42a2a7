"""What the chart's pods are: confined, without a secret's value, and made of things that are there."""

from __future__ import annotations

import re
from typing import Any

import click
import pytest
import yaml
from dagster._daemon.cli import create_dagster_daemon_cli

from tests.deploy.chart import NAMESPACE, SCENARIOS, Document, rendered
from tests.project import CHECKOUT
from tidemark.api.app import HEALTH
from tidemark.console.main import main
from tidemark.system.kafka_client import PREFIX, KafkaSecurity
from tidemark.system.settings import ENV_PREFIX, Settings
from tidemark.system.token_variable import TOKEN_VARIABLE

KNOWN = (
    {ENV_PREFIX + name.upper() for name in Settings.model_fields}
    | {PREFIX + name.upper() for name in KafkaSecurity.model_fields}
    | {"DAGSTER_HOME", TOKEN_VARIABLE, "TIDEMARK_ALLOWED_HOSTS", "TIDEMARK_WRITES_PER_SECOND"}
    # of the clients of AWS, Google and Azure, of Spark, and what Spark's configuration names
    | {"AWS_REGION", "AWS_ENDPOINT_URL", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "GOOGLE_APPLICATION_CREDENTIALS"}
    | {"AZURE_CLIENT_ID", "AZURE_TENANT_ID", "AZURE_AUTHORITY_HOST", "AZURE_STORAGE_ACCOUNT_KEY", "AZURE_CLIENT_SECRET"}
    | {"SPARK_LOCAL_HOSTNAME", "POD_NAME", "POD_IP"}
)
EXTERNAL = {
    "tidemark", "registry", "kafka-ca", "postgresql-ca", "lake-key", "tidemark-tls", "dagster-tls", "dagster-proxy",
}  # fmt: skip
"""Secrets that the values name: no template makes one."""
SELECTOR = ("app.kubernetes.io/name", "app.kubernetes.io/instance", "app.kubernetes.io/component")


def references(part: Any, key: str) -> list[Any]:
    """All values of a key, wherever it stands."""
    inner = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    own = [part[key]] if isinstance(part, dict) and key in part else []
    return own + [value for each_part in inner for value in references(each_part, key)]


def selected(selector: dict[str, str], pods: dict[str, Document]) -> set[str]:
    """The components whose pods have these labels."""
    return {component for component, pod in pods.items() if selector.items() <= pod["metadata"]["labels"].items()}


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_container_is_confined(scenario: str) -> None:
    made = rendered(scenario)
    for component, pod in made.pods.items():
        security = pod["spec"]["securityContext"]
        assert security["runAsNonRoot"] is True, component
        assert security["seccompProfile"] == {"type": "RuntimeDefault"}, component
        for setting in ("hostNetwork", "hostPID", "hostIPC", "hostUsers"):
            assert setting not in pod["spec"]
        for volume in pod["spec"]["volumes"]:
            assert set(volume) - {"name"} <= {"emptyDir", "configMap", "secret"}, volume
    for component, container in made.containers():
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }, component


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_written_folders_are_volumes(scenario: str) -> None:
    made = rendered(scenario)
    for component, pod in made.pods.items():
        claims = made.workloads.get(component, {"spec": {}})["spec"].get("volumeClaimTemplates", [])
        there = {volume["name"] for volume in (*pod["spec"]["volumes"], *(claim["metadata"] for claim in claims))}
        (container, *_) = pod["spec"]["containers"]
        writable = {mount["mountPath"] for mount in container["volumeMounts"] if not mount.get("readOnly")}
        assert {mount["name"] for mount in container["volumeMounts"]} <= there
        assert writable >= ({"/tmp"} if component == "executor" else {"/tmp", "/var/lib/tidemark"})
    # What takes the place of a lost pod has to find which runs that one had taken.
    kept = {name for name, document in made.workloads.items() if "volumeClaimTemplates" in document["spec"]}
    assert kept == set(made.workloads) - {"distribution"} - ({"capture"} if scenario == "whole" else set())


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_container_has_resource_requests(scenario: str) -> None:
    for component, container in rendered(scenario).containers():
        if component != "executor":  # Spark sets them
            assert set(container["resources"]) == {"requests", "limits"}
            assert set(container["resources"]["requests"]) == {"cpu", "memory"}


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_secrets_are_named_and_never_written(scenario: str) -> None:
    made = rendered(scenario)
    assert made.of("Secret") == []
    for component, container in made.containers():
        for variable in container.get("env", ()):
            is_secret = re.search(
                r"TOKEN|USERNAME|PASSWORD|STATE|OLAP|POSTGRES|DATABASES|SECRET|ACCESS_KEY|CHANNEL_", variable["name"]
            )
            assert bool(is_secret) == ("secretKeyRef" in variable.get("valueFrom", {})), (component, variable)
    text = yaml.safe_dump_all(made.documents)
    assert not re.search(r"://[^/\s]*:[^/\s]*@", text)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_each_component_has_the_secrets_that_it_needs_and_no_others(scenario: str) -> None:
    secrets = {
        component: {
            variable["name"] for variable in container.get("env", ()) if "secretKeyRef" in variable.get("valueFrom", {})
        }
        for component, container in rendered(scenario).containers()
        if container["name"] == component
    }
    for component, names in secrets.items():
        of_dagster = component in ("center", "dagster", "workers", "run")
        assert ("TIDEMARK_TOKEN" in names) == (component in ("center", "dagster"))
        assert ({"TIDEMARK_OLAP", "DAGSTER_POSTGRES_URL"} <= names) == of_dagster
        assert ("TIDEMARK_STATE" in names) == (component != "executor")
        assert not (component in ("executor", "distribution", "capture") and "TIDEMARK_CHANNEL_ONCALL" in names)
        assert not (component in ("executor", "distribution") and "TIDEMARK_DATABASES" in names)
    if scenario == "whole":
        assert {"TIDEMARK_DATABASES", "TIDEMARK_KAFKA_PASSWORD"} <= secrets["capture"]
        assert secrets["executor"] == {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_variable_is_one_that_is_known(scenario: str) -> None:
    made = rendered(scenario)
    asked_by_dagster = set(references(made.dagster_yaml()["storage"], "env"))
    for component, container in made.containers():
        names = [variable["name"] for variable in container.get("env", ())]
        assert len(names) == len(set(names)), component
        unknown = {
            name for name in names if name not in KNOWN | asked_by_dagster and not name.startswith("TIDEMARK_CHANNEL_")
        }
        assert unknown == set(), component


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_settings_of_each_pod_can_be_read(scenario: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the variables that it has, as Tidemark reads them; secrets are played."""
    played = {"TIDEMARK_STATE": "postgresql+psycopg2://u:p@h/d", "TIDEMARK_OLAP": "postgresql+psycopg2://u:p@h/d"}
    for component, container in rendered(scenario).containers():
        given = {variable["name"]: variable.get("value", "x") for variable in container.get("env", ())}
        if "TIDEMARK_WAREHOUSE" not in given:
            continue
        given |= {name: url for name, url in played.items() if name in given} | {"TIDEMARK_ROOT": str(CHECKOUT)}
        for name, value in given.items():
            monkeypatch.setenv(name, value)
        settings = Settings.load(given)
        assert str(settings.warehouse) == given["TIDEMARK_WAREHOUSE"].replace("s3:", "s3a:"), component
        assert str(settings.data) == "/var/lib/tidemark/data"
        assert str(settings.dagster_home) == "/var/lib/tidemark"
        assert settings.state == played["TIDEMARK_STATE"]


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_everything_that_is_named_is_there(scenario: str) -> None:
    made = rendered(scenario)
    maps = {document["metadata"]["name"] for document in made.of("ConfigMap")}
    accounts = {document["metadata"]["name"] for document in made.of("ServiceAccount")}
    services = {document["metadata"]["name"]: document for document in made.of("Service")}
    for component, pod in made.pods.items():
        assert {given["name"] for given in references(pod, "configMap")} <= maps
        assert set(references(pod, "serviceAccountName")) <= accounts
        of_variables = [given["name"] for key in ("secretKeyRef", "secretRef") for given in references(pod, key)]
        of_files = [given["secretName"] for given in references(pod, "secret")]
        pulled = [given["name"] for names in references(pod, "imagePullSecrets") for given in names]
        assert {*of_variables, *of_files, *pulled} <= EXTERNAL, component
    for document in made.of("StatefulSet"):
        assert services[document["spec"]["serviceName"]]["spec"]["clusterIP"] == "None"
    for document in made.of("Ingress"):
        (backend,) = references(document, "backend")
        ports = {port["name"] for port in services[backend["service"]["name"]]["spec"]["ports"]}
        assert backend["service"]["port"]["name"] in ports
        assert set(references(document, "secretName")) <= EXTERNAL
    for document in made.of("RoleBinding"):
        assert made.named("Role", document["roleRef"]["name"])
        assert [
            (subject["kind"], subject["namespace"], subject["name"] in accounts) for subject in document["subjects"]
        ] == [("ServiceAccount", NAMESPACE, True)]


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_selectors_find_the_pods_of_one_component(scenario: str) -> None:
    made = rendered(scenario)
    for component, document in made.workloads.items():
        selector = document["spec"]["selector"]["matchLabels"]
        assert set(selector) == set(SELECTOR)
        assert selected(selector, made.pods) == {component}
    for document in (*made.of("Service"), *made.of("PodDisruptionBudget")):
        selector = document["spec"]["selector"]
        (component,) = selected(selector.get("matchLabels", selector), made.pods)
        ports = {
            port["name"]
            for container in made.pods[component]["spec"]["containers"]
            for port in container.get("ports", ())
        }
        assert {port["targetPort"] for port in document["spec"].get("ports", ())} <= ports


def understood(words: list[str]) -> None:
    """Parse the words to their last option as `tidemark` or `dagster-daemon` does; nothing is run."""
    program: Any = {"tidemark": main, "dagster-daemon": create_dagster_daemon_cli()}[words[0]]
    context, rest = None, words[1:]
    while isinstance(program, click.Group):
        context = program.make_context(words[0], rest, parent=context)
        _, program, rest = program.resolve_command(context, [*context._protected_args, *context.args])
    program.make_context(words[0], rest, parent=context)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_commands_of_containers_and_probes_exist(scenario: str) -> None:
    for component, container in rendered(scenario).containers():
        if container["name"] in ("proxy", "run", "executor"):
            continue
        assert "command" not in container, "the image's entry point takes leave of orphans"
        understood(container["args"])
        with pytest.raises(click.UsageError):
            understood([*container["args"], "--no-such-option"])
        probes = [container[name] for name in ("startupProbe", "readinessProbe", "livenessProbe")]
        for probe in probes:
            if "exec" in probe:
                understood(probe["exec"]["command"])
            else:
                assert probe["httpGet"] == {"path": HEALTH, "port": "http"}, component


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_only_who_needs_the_api_has_a_token_for_it(scenario: str) -> None:
    made = rendered(scenario)
    with_rights = {subject["name"] for document in made.of("RoleBinding") for subject in document["subjects"]}
    for component, pod in made.pods.items():
        has_rights = pod["spec"].get("serviceAccountName") in with_rights
        assert pod["spec"]["automountServiceAccountToken"] == has_rights, component
    verbs = {verb for document in made.of("Role") for rule in document["rules"] for verb in rule["verbs"]}
    resources = {name for document in made.of("Role") for rule in document["rules"] for name in rule["resources"]}
    assert "*" not in verbs | resources
    assert "secrets" not in resources
    assert made.of("ClusterRole", "ClusterRoleBinding") == []


def test_dagster_is_configured_as_a_project_is_but_for_its_storage() -> None:
    own = yaml.safe_load((CHECKOUT / "dagster_home" / "dagster.yaml").read_text())
    assert rendered("plain").dagster_yaml() == {
        **own, "storage": {"postgres": {"postgres_url": {"env": "DAGSTER_POSTGRES_URL"}}}
    }  # fmt: skip
    by_jobs = rendered("jobs").dagster_yaml()
    assert {name for name in own if by_jobs[name] != own[name]} == {"run_launcher", "run_monitoring"}
