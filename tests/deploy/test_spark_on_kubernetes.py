"""Spark's settings of the chart, as a session would be started with them. No cluster runs here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.deploy.chart import rendered
from tests.project import write_project
from tidemark.spark.session import runs_here, spark_conf
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("component", ["center", "dagster", "capture"])
def test_a_driver_is_found_by_its_pods_name(component: str) -> None:
    made = rendered("whole")
    (container, *_) = made.pods[component]["spec"]["containers"]
    given = {variable["name"]: variable for variable in container["env"]}
    headless = made.workloads[component]["spec"]["serviceName"]
    assert given["SPARK_LOCAL_HOSTNAME"]["value"] == f"$(POD_NAME).{headless}.data.svc"
    names = list(given)
    assert names.index("POD_NAME") < names.index("SPARK_LOCAL_HOSTNAME"), "Kubernetes puts in what stands before"
    service = made.named("Service", headless)["spec"]
    assert service["publishNotReadyAddresses"] is True
    assert service["clusterIP"] == "None"


def test_the_pod_of_a_job_is_found_by_its_address() -> None:
    (container,) = rendered("jobs").pods["run"]["spec"]["containers"]
    given = {variable["name"]: variable for variable in container["env"]}
    assert given["SPARK_LOCAL_HOSTNAME"]["value"] == "$(POD_IP)"
    assert given["POD_IP"]["valueFrom"] == {"fieldRef": {"fieldPath": "status.podIP"}}


def test_the_session_takes_the_settings(tmp_path: Path) -> None:
    made = rendered("whole", "spark.executors=3", "spark.memory=6g")
    file = tmp_path / "spark.conf"
    file.write_text(made.named("ConfigMap", "prod-tidemark-spark")["data"]["spark.conf"])
    root = write_project(tmp_path / "project", {})
    (container, *_) = made.pods["center"]["spec"]["containers"]
    given = {variable["name"]: variable.get("value", "") for variable in container["env"]}
    master = given["TIDEMARK_SPARK_MASTER"]
    settings = Settings.at(tmp_path / "data", root=str(root), spark_conf=str(file), spark_master=master)
    assert not runs_here(settings)
    conf = spark_conf(settings, tmp_path)
    assert {name: conf.get(name) for name in WANTED} == WANTED
    # The file of the pod template, and where the configuration says that it is.
    mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    assert given["TIDEMARK_SPARK_CONF"] == f"{mounts['spark']}/spark.conf"
    assert conf.get("spark.kubernetes.executor.podTemplateFile") == f"{mounts['spark']}/executor.yaml"


WANTED = {
    "spark.master": "k8s://https://kubernetes.default.svc",
    "spark.kubernetes.namespace": "data",
    "spark.kubernetes.container.image": "registry.example/spark:4.2.0-python3.11",
    "spark.kubernetes.driver.pod.name": "${env:POD_NAME}",
    "spark.kubernetes.authenticate.executor.serviceAccountName": "prod-tidemark",
    "spark.executor.instances": "3",
    "spark.executor.memory": "6g",
    "spark.executor.memoryOverhead": "1g",
    "spark.driver.bindAddress": "0.0.0.0",  # noqa: S104 - in a pod, under its network policy
    "spark.driver.host": None,
    "spark.driver.port": "35000",
    "spark.blockManager.port": "35100",
    "spark.port.maxRetries": "15",
}
