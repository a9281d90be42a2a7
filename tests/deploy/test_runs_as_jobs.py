"""Dagster's own launcher, configured as the chart does it, makes a Job: seen at a server that plays Kubernetes' API."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import dagster as dg
import pytest
import yaml
from dagster._core.instance import InstanceRef

from tests.deploy.chart import Document, rendered
from tests.deploy.kubernetes_api import PlayedApi, played_api
from tests.deploy.schemas.judge import problems
from tidemark.dagster_internals.run_launcher import LaunchRunContext

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SECRET = "postgresql+psycopg2://dagster:never-written@postgresql/dagster"


@dg.op
def nothing() -> None:
    """Does nothing."""


@dg.job
def played_job() -> None:
    nothing()


@pytest.fixture
def api() -> Iterator[PlayedApi]:
    with played_api() as api:
        yield api


def home_of(tmp_path: Path, scenario: str, **launcher: Any) -> Path:
    """A DAGSTER_HOME with the chart's dagster.yaml, and its storage in the folder."""
    made = copy.deepcopy(rendered(scenario).dagster_yaml())
    del made["storage"]
    made["run_launcher"]["config"] |= launcher
    (tmp_path / "dagster.yaml").write_text(yaml.safe_dump(made))
    return tmp_path


def launched(tmp_path: Path, api: PlayedApi, scenario: str) -> Document:
    """The Job of a run that was launched, looked after and stopped."""
    config = api.kubeconfig(tmp_path / "kubeconfig")
    home = home_of(tmp_path, scenario, load_incluster_config=False, kubeconfig_file=str(config))
    with dg.DagsterInstance.from_config(str(home)) as instance:
        origin = dg.reconstructable(played_job).get_python_origin()
        run = instance.create_run_for_job(played_job, job_code_origin=origin)
        launcher: Any = instance.run_launcher
        launcher.launch_run(LaunchRunContext(run, None))
        assert launcher.check_run_worker_health(run).status.value == "RUNNING"
        assert launcher.terminate(run.run_id)
    (job,) = api.jobs
    return job


@pytest.mark.slow
@pytest.mark.parametrize("scenario", ["jobs", "jobs_alone", "google"])
def test_a_run_is_a_job_of_the_api(scenario: str, tmp_path: Path, api: PlayedApi) -> None:
    job, made = launched(tmp_path, api, scenario), rendered(scenario)
    assert problems(job) == []
    pod, wanted = job["spec"]["template"], made.pods["run"]
    assert wanted["metadata"]["labels"].items() <= pod["metadata"]["labels"].items()
    for name in ("serviceAccountName", "automountServiceAccountToken", "securityContext", "enableServiceLinks"):
        assert pod["spec"][name] == wanted["spec"][name]
    assert pod["spec"].get("imagePullSecrets", []) == wanted["spec"]["imagePullSecrets"]
    (container,) = pod["spec"]["containers"]
    (own,) = wanted["spec"]["containers"]
    assert container["args"][:3] == ["dagster", "api", "execute_run"]
    assert "command" not in container
    for name in ("image", "resources", "securityContext"):
        assert container[name] == own[name]
    assert [variable for variable in own["env"] if variable not in container["env"]] == []
    assert {mount["mountPath"] for mount in own["volumeMounts"]} <= {
        mount["mountPath"] for mount in container["volumeMounts"]
    }
    volumes = {volume["name"] for volume in pod["spec"]["volumes"]}
    assert {mount["name"] for mount in container["volumeMounts"]} <= volumes
    names = [variable["name"] for variable in container["env"]]
    assert len(names) == len(set(names))


def test_the_launcher_has_only_needed_rights(tmp_path: Path, api: PlayedApi) -> None:
    launched(tmp_path, api, "jobs")
    rules = rendered("jobs").named("Role", "prod-tidemark-launcher")["rules"]
    granted = {
        (group, resource, verb)
        for rule in rules
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }
    assert {("batch", "jobs", "create"), ("batch", "jobs/status", "get"), ("batch", "jobs", "delete")} <= api.asked
    assert api.asked <= granted
    # The others are for what it tells of a run that failed.
    assert granted - api.asked == {
        ("batch", "jobs", "list"), ("", "pods", "get"), ("", "pods", "list"), ("", "pods", "delete"),
        ("", "pods/log", "get"), ("", "events", "list"),
    } - api.asked  # fmt: skip


def test_a_run_in_its_pod_asks_no_api(tmp_path: Path) -> None:
    """So it needs no token: the launcher is made where runs are launched, and this one could not be."""
    home = home_of(tmp_path, "jobs_alone")
    with dg.DagsterInstance.from_config(str(home)) as instance:
        assert played_job.execute_in_process(instance=instance).success


@pytest.mark.parametrize("scenario", ["plain", "jobs"])
def test_no_secret_goes_with_a_run(scenario: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Job's arguments hold how Dagster is configured, which names the variable."""
    monkeypatch.setenv("DAGSTER_POSTGRES_URL", SECRET)
    (tmp_path / "dagster.yaml").write_text(yaml.safe_dump(rendered(scenario).dagster_yaml()))
    told = dg.serialize_value(InstanceRef.from_dir(str(tmp_path)))
    assert "DAGSTER_POSTGRES_URL" in told
    assert "never-written" not in told
