"""The allowed connections: exactly those that are listed here, read from the chart's network policies."""

from __future__ import annotations

from typing import Any

import pytest

from tests.deploy.chart import Document, Rendered, rendered

API = "client:tidemark.io/api-client"
CONTROLLER = "namespace:ingress-nginx"
DNS = {("dns", "53/UDP"), ("dns", "53/TCP")}
POSTGRESQL, STORE, KAFKA = ("any", "5432"), ("any", "443"), ("any", "9092")
METADATA = {
    (f"{address}/32", port)
    for address in ("169.254.169.254", "169.254.169.252", "169.254.170.23")
    for port in ("80", "8080", "987", "988")
}
"""Where nothing else gives credentials of the lake's store."""


def matches(selector: Document, labels: dict[str, str]) -> bool:
    for expression in selector.get("matchExpressions", ()):
        assert expression["operator"] == "In"
        if labels.get(expression["key"]) not in expression["values"]:
            return False
    return bool(selector.get("matchLabels", {}).items() <= labels.items())


def peers(rule: Document, side: str, made: Rendered) -> set[str]:
    """The other side of a rule, in words: components of the chart, or what is outside."""
    if side not in rule:
        return {"any"}
    named = set[str]()
    for peer in rule[side]:
        if "ipBlock" in peer:
            named.add(peer["ipBlock"]["cidr"])
        elif "namespaceSelector" in peer:
            of_dns = peer.get("podSelector", {}).get("matchLabels", {}).get("k8s-app") == "kube-dns"
            (name,) = peer["namespaceSelector"]["matchLabels"].values()
            named.add("dns" if of_dns else f"namespace:{name}")
        else:
            inside = {
                name for name, pod in made.pods.items() if matches(peer["podSelector"], pod["metadata"]["labels"])
            }
            named |= inside or {f"client:{next(iter(peer['podSelector']['matchLabels']))}"}
    return named


def ports(rule: Document) -> set[str]:
    def words(port: Document) -> str:
        end = f"-{port['endPort']}" if "endPort" in port else ""
        return f"{port['port']}{end}" + ("/UDP" if port["protocol"] == "UDP" else "/TCP" if port["port"] == 53 else "")

    return {words(port) for port in rule.get("ports", ())} or {"every"}


def flows(made: Rendered, component: str, direction: str) -> set[tuple[str, str]]:
    """All that the policies of a component's pods let through: (who, port)."""
    labels, side = made.pods[component]["metadata"]["labels"], {"ingress": "from", "egress": "to"}[direction]
    policies = [policy for policy in made.of("NetworkPolicy") if matches(policy["spec"]["podSelector"], labels)]
    assert all(policy["spec"]["policyTypes"] == ["Ingress", "Egress"] for policy in policies)
    rules: list[Any] = [rule for policy in policies for rule in policy["spec"].get(direction, ())]
    return {(peer, port) for rule in rules for peer in peers(rule, side, made) for port in ports(rule)}


def test_a_plain_installation_allows_only_needed_traffic() -> None:
    made = rendered("plain")
    for component in ("center", "dagster", "capture"):
        assert flows(made, component, "egress") == {*DNS, POSTGRESQL, STORE, KAFKA, *METADATA}
    assert flows(made, "center", "ingress") == {(API, "http")}
    assert flows(made, "dagster", "ingress") == set()
    assert flows(made, "capture", "ingress") == set()


def test_a_full_installation_adds_proxies_databases_executors_and_own_rules() -> None:
    made = rendered("whole")
    stores = {("10.0.0.0/24", "5432"), ("any", "443"), ("any", "9000"), ("any", "9093")}
    kubernetes, executors, blocks = (
        {("any", "443"), ("any", "6443")},
        {("executor", "every")},
        {"35000-35015", "35100-35115"},
    )
    further = {("192.0.2.0/24", "443")}
    from_executors = {("executor", port) for port in blocks}
    for component in ("center", "dagster", "workers"):
        wanted = {*DNS, *stores, ("any", "3306"), *kubernetes, *executors, *further}
        assert flows(made, component, "egress") == wanted
    assert flows(made, "capture", "egress") == {*DNS, *stores, ("any", "3306"), *kubernetes, *executors}
    assert flows(made, "distribution", "egress") == {*DNS, *stores}
    assert flows(made, "center", "ingress") == {(API, "http"), (CONTROLLER, "http"), *from_executors}
    assert flows(made, "dagster", "ingress") == {(CONTROLLER, "proxy"), *from_executors}
    assert flows(made, "capture", "ingress") == flows(made, "workers", "ingress") == from_executors
    assert flows(made, "distribution", "ingress") == set()
    members = {(name, "every") for name in ("executor", "center", "dagster", "workers", "capture")}
    assert flows(made, "executor", "ingress") == members
    assert flows(made, "executor", "egress") == {*DNS, ("any", "443"), ("any", "9000"), ("any", "9093"), *members}


def test_runs_as_jobs_reach_the_stores_and_the_launcher_the_api() -> None:
    made = rendered("jobs")
    kubernetes = {("any", "443"), ("any", "6443")}
    assert flows(made, "dagster", "egress") == {*DNS, POSTGRESQL, *kubernetes}
    assert flows(made, "dagster", "ingress") == set()
    assert flows(made, "run", "egress") == {*DNS, POSTGRESQL, *kubernetes, ("executor", "every")}
    assert flows(made, "run", "ingress") == {("executor", "35000-35015"), ("executor", "35100-35115")}
    assert flows(made, "executor", "ingress") == {("executor", "every"), ("run", "every")}
    alone = rendered("jobs_alone", "networkPolicy.enabled=true")
    assert flows(alone, "run", "egress") == {*DNS, POSTGRESQL, STORE, KAFKA, *METADATA}
    assert flows(alone, "run", "ingress") == set()


@pytest.mark.parametrize("scenario", ["plain", "whole", "jobs", "google", "azure"])
def test_every_pod_is_under_the_policy_that_denies_all_traffic(scenario: str) -> None:
    made = rendered(scenario)
    policy = made.named("NetworkPolicy", "prod-tidemark")
    assert "ingress" not in policy["spec"]
    for pod in made.pods.values():
        assert matches(policy["spec"]["podSelector"], pod["metadata"]["labels"])


@pytest.mark.parametrize("scenario", ["plain", "whole", "jobs", "google", "azure"])
def test_ports_by_name_are_ports_of_the_pods(scenario: str) -> None:
    made = rendered(scenario)
    for component, pod in made.pods.items():
        names = {port["name"] for container in pod["spec"]["containers"] for port in container.get("ports", ())}
        by_name = {port for _, port in flows(made, component, "ingress") if port.isalpha() and port != "every"}
        assert by_name <= names
