"""The chart's documents satisfy the schemas of Kubernetes' API, and what is wrong is refused.

That a cluster takes them is another thing: none runs here.
"""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.deploy.chart import CHART, SCENARIOS, Document, helm, rendered
from tests.deploy.schemas.judge import problems


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_document_is_valid_for_the_api(scenario: str) -> None:
    documents = rendered(scenario).documents
    assert len(documents) >= 8
    assert {document["metadata"]["name"]: problems(document) for document in documents if problems(document)} == {}


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_helm_finds_no_fault(scenario: str) -> None:
    done = helm("lint", "--strict", str(CHART), "--values", str(CHART / "ci" / f"{scenario}.yaml"))
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_no_two_documents_have_one_name(scenario: str) -> None:
    names = [(document["kind"], document["metadata"]["name"]) for document in rendered(scenario).documents]
    assert len(names) == len(set(names))


def test_the_pod_of_executors_is_one_of_the_api() -> None:
    executor = rendered("whole").pods["executor"]
    assert problems(executor) == []
    assert problems({**executor, "spec": {**executor["spec"], "container": []}}) != []


CENTER = ("StatefulSet", "prod-tidemark-center")
CONTAINER = ("spec", "template", "spec", "containers", 0)


@pytest.mark.parametrize(
    ("document", "place", "value", "told"),
    [
        (CENTER, ("spec", "replica"), 2, "'replica' was unexpected"),
        (CENTER, ("spec", "replicas"), "2", "spec.replicas: '2' is not of type 'integer'"),
        (CENTER, ("spec", "selector"), None, "spec: 'selector' is a required property"),
        (CENTER, ("spec", "serviceName"), ["a"], "spec.serviceName: ['a'] is not of type 'string'"),
        (CENTER, (*CONTAINER, "securityContext", "readOnlyRootFileSystem"), True, "was unexpected"),
        (CENTER, (*CONTAINER, "securityContext", "runAsNonRoot"), "yes", "'yes' is not of type 'boolean'"),
        (CENTER, (*CONTAINER, "name"), None, "'name' is a required property"),
        (CENTER, (*CONTAINER, "env"), {"A": "b"}, "is not of type 'array'"),
        (CENTER, (*CONTAINER, "livenessProbe", "httpGet", "port"), None, "'port' is a required property"),
        (CENTER, (*CONTAINER, "livenessProbe", "periodSecond"), 3, "'periodSecond' was unexpected"),
        (CENTER, ("apiVersion",), "apps/v1beta1", "no schema of StatefulSet in apps/v1beta1"),
        (("NetworkPolicy", "prod-tidemark-center"), ("spec", "podSelector"), ["a"], "is not of type 'object'"),
        (("NetworkPolicy", "prod-tidemark-center"), ("spec", "ingress"), None, ""),
        (("NetworkPolicy", "prod-tidemark-center"), ("spec", "egress"), {}, "is not of type 'array'"),
        (("PodDisruptionBudget", "prod-tidemark-center"), ("spec", "minAvailableReplicas"), 1, "was unexpected"),
        (("Service", "prod-tidemark-center"), ("spec", "ports", 0, "port"), None, "'port' is a required property"),
        (("Role", "prod-tidemark-driver"), ("rules", 0, "verbs"), None, "'verbs' is a required property"),
        (("RoleBinding", "prod-tidemark-driver"), ("roleRef",), None, "'roleRef' is a required property"),
        (("ServiceAccount", "prod-tidemark"), ("automountServiceAccountToken",), "no", "is not of type 'boolean'"),
        (("ConfigMap", "prod-tidemark-spark"), ("data", "spark.conf"), 4, "4 is not of type 'string'"),
        (("Ingress", "prod-tidemark-center"), ("spec", "rules", 0, "http", "paths", 0, "pathType"), None, "required"),
    ],
)  # fmt: skip
def test_errors_are_reported(document: tuple[str, str], place: tuple[Any, ...], value: Any, told: str) -> None:
    """`None` takes the field away; with nothing to tell, it may be missing."""
    changed = _changed(rendered("whole").named(*document), place, value)
    lines = "\n".join(problems(changed))
    assert told in lines
    assert bool(told) == bool(lines)


def _changed(document: Document, place: tuple[Any, ...], value: Any) -> Document:
    changed = copy.deepcopy(document)
    part: Any = changed
    for step in place[:-1]:
        part = part[step]
    if value is None:
        del part[place[-1]]
    else:
        part[place[-1]] = value
    return changed
