"""The chart, rendered by Helm: documents, and what pods have in common."""

from __future__ import annotations

import functools
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import yaml

from tests.deploy.tools import HELM, require
from tests.project import CHECKOUT

if TYPE_CHECKING:
    from collections.abc import Iterator

CHART: Final = CHECKOUT / "deploy" / "helm" / "tidemark"
SCENARIOS: Final = tuple(sorted(path.stem for path in (CHART / "ci").glob("*.yaml")))
RELEASE, NAMESPACE = "prod", "data"
_SECONDS: Final = 60

Document = dict[str, Any]


class UniqueKeys(yaml.SafeLoader):
    """A key that stands twice in one place is an error: Helm's own reader lets the last one win."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT002 - overridden
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        if len(keys) != len(set(keys)):
            raise yaml.constructor.ConstructorError(None, None, f"a key stands twice: {keys}", node.start_mark)
        return super().construct_mapping(node, deep)


@dataclass(frozen=True)
class Rendered:
    """What Helm makes of values."""

    documents: tuple[Document, ...]

    def of(self, *kinds: str) -> list[Document]:
        """The documents of these kinds."""
        return [document for document in self.documents if document["kind"] in kinds]

    def named(self, kind: str, name: str) -> Document:
        """The one document of this kind and name."""
        (only,) = (document for document in self.of(kind) if document["metadata"]["name"] == name)
        return only

    @property
    def workloads(self) -> dict[str, Document]:
        """What makes pods, by component."""
        return {
            document["metadata"]["labels"]["app.kubernetes.io/component"]: document
            for document in self.of("Deployment", "StatefulSet")
        }

    @property
    def pods(self) -> dict[str, Document]:
        """Pods by component (metadata and spec), those of Spark's executors and of runs as Jobs among them."""
        made = {component: document["spec"]["template"] for component, document in self.workloads.items()}
        return {**made, **self._of_config()}

    def dagster_yaml(self) -> Document:
        """What Dagster is configured by."""
        return _read(self.named("ConfigMap", f"{RELEASE}-tidemark-dagster")["data"]["dagster.yaml"])

    def containers(self) -> Iterator[tuple[str, Document]]:
        """Each container with its component."""
        for component, pod in self.pods.items():
            for container in pod["spec"]["containers"]:
                yield component, container

    def _of_config(self) -> dict[str, Document]:
        launcher = self.dagster_yaml()["run_launcher"]
        settings = launcher.get("config", {}).get("run_k8s_config")
        pods = {"run": _pod_of_run(launcher["config"])} if settings else {}
        for document in self.of("ConfigMap"):
            if "executor.yaml" in document["data"]:
                pods["executor"] = _read(document["data"]["executor.yaml"])
        return pods


def helm(*words: str) -> subprocess.CompletedProcess[str]:
    """A command of Helm on the chart; it asks no cluster."""
    command = [require(HELM), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=_SECONDS)


def template(*words: str) -> subprocess.CompletedProcess[str]:
    """`helm template` with further words."""
    return helm("template", RELEASE, str(CHART), "--namespace", NAMESPACE, *words)


@functools.cache
def rendered(scenario: str, *settings: str) -> Rendered:
    """The documents of the values in `ci/`, with single values set otherwise (`center.replicas=1`)."""
    words = [word for setting in settings for word in ("--set", setting)]
    done = template("--values", str(CHART / "ci" / f"{scenario}.yaml"), *words)
    assert done.returncode == 0, done.stderr
    return Rendered(tuple(document for document in yaml.load_all(done.stdout, UniqueKeys) if document))


def _read(text: str) -> Document:
    document: Document = yaml.load(text, UniqueKeys)  # noqa: S506 - it is the safe one
    return document


def _pod_of_run(config: Document) -> Document:
    """As the launcher puts it together of what it is configured by."""
    settings, container = config["run_k8s_config"], config["run_k8s_config"]["container_config"]
    spec = settings["pod_spec_config"]
    return {
        "metadata": settings["pod_template_spec_metadata"],
        "spec": {
            "serviceAccountName": config["service_account_name"],
            "automountServiceAccountToken": spec["automount_service_account_token"],
            "enableServiceLinks": spec["enable_service_links"],
            "securityContext": spec["security_context"],
            "volumes": spec["volumes"],
            "imagePullSecrets": config["image_pull_secrets"],
            "containers": [
                {
                    "name": "run",
                    "image": config["job_image"],
                    "env": [{"name": "DAGSTER_HOME", "value": config["dagster_home"]}, *container["env"]],
                    "volumeMounts": container["volume_mounts"],
                    "resources": container["resources"],
                    "securityContext": container["security_context"],
                }
            ],
        },
    }
