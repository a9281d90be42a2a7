"""What Spark itself makes of the chart's template: the pod of an executor, without a cluster."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.deploy.chart import Document, rendered
from tests.deploy.schemas.judge import problems
from tidemark.spark.internals import Jvm

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

NOWHERE = "http://127.0.0.1:1"
"""Nobody is asked: the builder wants a client that could."""


def executor_pod(spark: SparkSession, folder: Path, scenario: str, *settings: str) -> Document:
    """As a driver would send it to Kubernetes."""
    files = rendered(scenario, *settings).named("ConfigMap", "prod-tidemark-spark")["data"]
    template = folder / "executor.yaml"
    template.write_text(files["executor.yaml"])
    given = dict(line.split(" ", 1) for line in files["spark.conf"].splitlines())
    del given["spark.kubernetes.driver.pod.name"]  # it would be asked for
    given |= {"spark.kubernetes.executor.podTemplateFile": str(template), "spark.driver.host": "driver"}
    java = Jvm(spark)
    conf = java("org.apache.spark.SparkConf")(False)  # noqa: FBT003 - not with what this session is started with
    for name, value in {**given, "spark.app.name": "tidemark"}.items():
        conf.set(name, value)
    config = java("io.fabric8.kubernetes.client.ConfigBuilder")().withMasterUrl(NOWHERE).build()
    client = java("io.fabric8.kubernetes.client.KubernetesClientBuilder")().withConfig(config).build()
    nothing = java("scala.Option").empty()
    security = java("org.apache.spark.SecurityManager")
    secret_file = getattr(security, "$lessinit$greater$default$3")()
    executor = java("org.apache.spark.deploy.k8s.KubernetesConf").createExecutorConf(conf, "1", "app-1", nothing, 0)
    made = java("org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBuilder")().buildFromFeatures(
        executor,
        security(conf, nothing, secret_file),
        client,
        java.scala_object("org.apache.spark.resource.ResourceProfile").getOrCreateDefaultProfile(conf),
    )
    client.close()
    told = java("io.fabric8.kubernetes.client.utils.Serialization")
    pod: Document = json.loads(told.asJson(made.pod().pod()))
    pod["spec"]["containers"] = [json.loads(told.asJson(made.pod().container()))]
    return pod


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scenario", "settings"),
    [("whole", ()), ("google", ()), ("azure", ()), ("azure", ("secretVariables[0]=AZURE_STORAGE_ACCOUNT_KEY",))],
)
def test_spark_keeps_the_settings_of_the_template(
    scenario: str, settings: tuple[str, ...], spark: SparkSession, tmp_path: Path
) -> None:
    pod, wanted = executor_pod(spark, tmp_path, scenario, *settings), rendered(scenario, *settings).pods["executor"]
    assert problems(pod) == []
    assert wanted["metadata"]["labels"].items() <= pod["metadata"]["labels"].items()
    for name in ("securityContext", "automountServiceAccountToken", "enableServiceLinks"):
        assert pod["spec"][name] == wanted["spec"][name]
    assert pod["spec"]["serviceAccountName"] == "prod-tidemark"
    (container,), (own,) = pod["spec"]["containers"], wanted["spec"]["containers"]
    assert container["securityContext"] == own["securityContext"]
    for name in ("env", "volumeMounts"):
        assert [part for part in own.get(name, ()) if part not in container[name]] == []
    assert [volume for volume in wanted["spec"]["volumes"] if volume not in pod["spec"]["volumes"]] == []
    assert container["image"] == "registry.example/spark:4.2.0-python3.11"
