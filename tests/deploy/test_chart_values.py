"""Values that are wrong are refused, with words that say what to do; what the chart has twice agrees."""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

import pytest
import yaml

from tests.deploy.chart import CHART, NAMESPACE, RELEASE, SCENARIOS, helm, rendered, template
from tests.project import CHECKOUT
from tidemark.system.kafka_client import PREFIX, KafkaSecurity
from tidemark.system.settings import ENV_PREFIX, Settings

# Said elsewhere in the values, a secret, or what pods of a cluster have no use for.
NOT_FREE = {
    "root", "data", "landing", "warehouse", "state_db", "dagster_home", "state", "kafka", "databases", "pools",
    "spark_master", "spark_conf", "olap", "host", "place",
}  # fmt: skip


def refusal(*settings: str, scenario: str = "plain") -> str:
    words = [word for setting in settings for word in ("--set", setting)]
    done = template("--values", str(CHART / "ci" / f"{scenario}.yaml"), *words)
    assert done.returncode != 0, done.stdout
    assert "apiVersion" not in done.stdout
    return done.stderr


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("stateStore=sqlite", "'/stateStore': value must be 'postgresql'"),
        ("settings.TIDEMARK_STATE_DB=/data/state.db", "invalid propertyName 'TIDEMARK_STATE_DB'"),
        ("settings.TIDEMARK_STATE=sqlite:///state.db", "invalid propertyName 'TIDEMARK_STATE'"),
        ("settings.TIDEMARK_TOKEN=0123456789abcdef", "invalid propertyName 'TIDEMARK_TOKEN'"),
        ("center.replicas=0", "'/center/replicas': minimum: got 0, want 1"),
        ("center.replicas=two", "'/center/replicas': got string, want integer"),
        ("center.replica=2", "'/center': additional properties 'replica' not allowed"),
        ("postgres=x", "additional properties 'postgres' not allowed"),
        ("warehouse=/data/warehouse", "'/warehouse': '/data/warehouse' does not match pattern"),
        ("warehouse=abfs://lake@account.dfs.core.windows.net/prod", "'/warehouse'"),
        ("warehouse=abfss://lake@account.blob.core.windows.net/prod", "'/warehouse'"),
        ("objectStore.endpoint=https://key:secret@storage", "'/objectStore/endpoint'"),
        ("objectStore.azure.clientId=me", "'/objectStore/azure/clientId'"),
        ("objectStore.azure.authorityHost=http://login.example", "'/objectStore/azure/authorityHost'"),
        ("objectStore.google.keySecret=/etc/key.json", "'/objectStore/google/keySecret'"),
        ("podLabels.app\\.kubernetes\\.io/component=a", "invalid propertyName 'app.kubernetes.io/component'"),
        ("podLabels.a=b c", "'/podLabels/a'"),
        ("podLabels.a=true", "'/podLabels/a': got boolean, want string"),
        ("image.tag=latest", "'/image/tag': 'not' failed"),
        ("image.digest=sha256:12", "'/image/digest'"),
        ("pools=default", "'/pools': 'default' does not match pattern"),
        ("runs.launcher=celery", "'/runs/launcher': value must be one of 'warm', 'kubernetes'"),
        ("secretVariables[0]=TIDEMARK_DATA", "'/secretVariables/0'"),
        ("secretVariables[0]=AZURE_CLIENT_ID", "'/secretVariables/0'"),
        ("secretFiles[0].secretName=a,secretFiles[0].mountPath=/etc/passwd", "'/secretFiles/0/mountPath'"),
        ("secretFiles[0].secretName=a,secretFiles[0].mountPath=/etc/tidemark/google", "'/secretFiles/0/mountPath'"),
        ("networkPolicy.kafka.ports[0]=70000", "maximum: got 70,000, want 65,535"),
        ("center.resources.limits.memory=lots", "'/center/resources/limits/memory'"),
        ("spark.master=local[*]", "'/spark/master'"),
        ("spark.conf.spark\\.master=yarn", "'spark.master'"),
        ("image.repository=", "image.repository is empty: name the image that you built by deploy/Dockerfile"),
        ("warehouse=", "warehouse is empty: name the place of the Delta tables in a bucket"),
        ("objectStore.region=", "objectStore.region is empty: name the bucket's region"),
        ("warehouse=gs://lake/prod", "objectStore.region or objectStore.endpoint is for a warehouse in s3://"),
        ("objectStore.google.keySecret=a", "objectStore.google.keySecret is for a warehouse in gs://, and warehouse"),
        ("objectStore.azure.tenantId=a", "objectStore.azure is for a warehouse in abfss://, and warehouse"),
        ("secretVariables[0]=AZURE_CLIENT_SECRET", "objectStore.azure lacks clientId or tenantId"),
        ("existingSecret=", "existingSecret is empty: name a Secret with the keys TIDEMARK_STATE"),
        ("kafka.bootstrapServers=", "kafka.bootstrapServers is empty: capture and distribution read topics"),
        ("kafka.bootstrapServers=kafka:9999", "has kafka:9999, which networkPolicy.kafka.ports does not let through"),
        ("objectStore.endpoint=http://storage:9000", "port 9000, which networkPolicy.objectStore.ports does not let"),
        ("objectStore.endpoint=http://storage", "port 80, which networkPolicy.objectStore.ports does not let"),
        ("runs.launcher=kubernetes", "the center hands runs to warm workers only; set center.enabled to false"),
        ("runs.launcher=kubernetes,center.enabled=false,dagster.enabled=false", "nothing would start runs"),
        ("runs.launcher=kubernetes,center.enabled=false,workers.enabled=true", "Jobs go to no workers"),
        ("spark.enabled=true", "spark.executorImage is empty: name an image of Apache Spark 4.2.0"),
        ("dagster.proxy.enabled=true", "dagster.proxy.image is empty"),
        ("dagster.ingress.enabled=true", "Dagster asks for no password; set a proxy that does"),
        ("center.ingress.enabled=true", "center.ingress.host is empty: name the host that people ask for"),
    ],
)  # fmt: skip
def test_wrong_values_are_refused(setting: str, told: str) -> None:
    assert told in refusal(setting)


def test_nothing_is_assumed() -> None:
    done = template()
    assert done.returncode != 0
    assert "image.repository is empty" in done.stderr


def test_a_center_alone_has_no_budget() -> None:
    assert rendered("plain").of("PodDisruptionBudget") != []
    assert rendered("plain", "center.replicas=1").of("PodDisruptionBudget") == []


def test_each_part_can_be_left_out() -> None:
    whole = set(rendered("plain").workloads)
    assert whole == {"center", "dagster", "capture"}
    for component in whole:
        assert set(rendered("plain", f"{component}.enabled=false").workloads) == whole - {component}


def test_the_values_file_has_the_keys_of_the_schema() -> None:
    def shape(schema: Any, of: Any) -> Any:
        named = of["$defs"][schema["$ref"].rsplit("/", 1)[1]] if "$ref" in schema else schema
        parts = named.get("properties")
        return {name: shape(part, of) for name, part in parts.items()} if parts else None

    def shape_of_values(values: Any, wanted: Any) -> Any:
        return {name: shape_of_values(values[name], wanted[name]) for name in values} if wanted else None

    schema = json.loads((CHART / "values.schema.json").read_text())
    wanted = shape(schema, schema)
    del wanted["global"]
    wanted["runs"]["resources"] = {"requests": None, "limits": None}
    assert shape_of_values(yaml.safe_load((CHART / "values.yaml").read_text()), wanted) == wanted


def test_free_settings_are_those_of_tidemark_that_the_chart_does_not_set() -> None:
    schema = json.loads((CHART / "values.schema.json").read_text())
    free = {name for name in Settings.model_fields if name not in NOT_FREE}
    of_kafka = {PREFIX + name.upper() for name in KafkaSecurity.model_fields if name not in ("username", "password")}
    wanted = {ENV_PREFIX + name.upper() for name in free} | of_kafka | {"TIDEMARK_WRITES_PER_SECOND"}
    assert set(schema["properties"]["settings"]["propertyNames"]["enum"]) == wanted


def test_versions_are_those_of_the_project() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]
    assert chart["appVersion"] == project["version"]
    spark = next(line for line in project["dependencies"] if line.startswith("pyspark=="))
    of_spark = f"Apache Spark {spark.removeprefix('pyspark==')}"
    for name in ("values.yaml", "templates/_validate.tpl"):
        assert of_spark in (CHART / name).read_text()


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_notes_name_existing_objects(scenario: str) -> None:
    values = str(CHART / "ci" / f"{scenario}.yaml")
    words = ("install", RELEASE, str(CHART), "--namespace", NAMESPACE, "--dry-run=client", "--values", values)
    done = helm(*words)
    assert done.returncode == 0, done.stderr
    notes = done.stdout.partition("NOTES:")[2]
    made, asked = rendered(scenario), set(re.findall(r"(prod-tidemark-[a-z]+)(-0| )", notes))
    names = {document["metadata"]["name"] for document in made.documents}
    assert asked
    assert {name for name, _ in asked} <= names
    assert ("no center" in notes) == ("center" not in made.workloads)
    assert ("networkPolicy.enabled is false" in notes) == (not made.of("NetworkPolicy"))
