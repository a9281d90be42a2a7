"""However an operation spells a run's configuration or tags, what is the operator's in them is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from graphql import parse

from tests.system.test_run_config import PLAIN, REFUSED
from tidemark.console.dagster_server.launch_guard import check_launches
from tidemark.console.dagster_server.query_guard import _mutations
from tidemark.system.http_guard import Refusal
from tidemark.system.run_config import MOST_CHARACTERS

MUTATION = "mutation M(%s) {launchRun(executionParams: %s) {__typename}}"
SELECTOR = '{repositoryName: "r", repositoryLocationName: "l", jobName: "repair"}'
TAG = {"key": "dagster-k8s/config", "value": '{"container_config": {"command": ["id"]}}'}


def short(config: Any) -> str:
    return json.dumps(config)[:60]


def literal(value: Any) -> str:
    """A value as GraphQL writes it; texts as JSON does."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {literal(inner)}" for name, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(literal, value)) + "]"
    return json.dumps(value)


def spellings(params: dict[str, Any]) -> list[dict[str, Any]]:
    """One launch in all the ways in which GraphQL can say it."""
    config = params.get("runConfigData")
    inline = f"{{selector: {SELECTOR}, runConfigData: $x}}"
    spelled: list[dict[str, Any]] = [
        {"query": MUTATION % ("$p: ExecutionParams!", "$p"), "variables": {"p": params}},
        {"query": MUTATION % ("$p: ExecutionParams!", "$p"), "variables": json.dumps({"p": params})},
        {"query": MUTATION % ("$x: RunConfigData", inline), "variables": {"x": config}},
        {
            "query": "mutation {launchMultipleRuns(executionParamsList: [$a, $p]) {__typename}}",
            "variables": {"a": {}, "p": params},
        },
        {
            "query": "query ($x: RunConfigData) {isPipelineConfigValid(runConfigData: $x) {...F}} fragment F on X {y}",
            "variables": {"x": config},
        },
        {
            "query": "mutation ($b: LaunchBackfillParams!) {launchPartitionBackfill(backfillParams: $b) {__typename}}",
            "variables": {"b": {"partitionNames": ["2026-03-29"], **params}},
        },
    ]
    try:
        spelled.append({"query": MUTATION % ("$a: Int", literal(params))})
        spelled.append({"query": MUTATION % (f"$x: RunConfigData = {literal(config)}", inline), "variables": {}})
    except TypeError:
        pass
    return spelled


@pytest.mark.parametrize("config", [config for config in REFUSED if "." not in json.dumps(config)], ids=short)
def test_a_refused_configuration_is_refused_in_every_spelling(config: Any) -> None:
    for request in spellings({"runConfigData": config}):
        refusal = _mutations(request)
        assert isinstance(refusal, Refusal), request
        assert refusal.status == 400


@pytest.mark.parametrize("config", PLAIN)
def test_a_plain_configuration_passes_in_every_spelling(config: Any) -> None:
    for request in spellings({"runConfigData": config}):
        assert not isinstance(_mutations(request), Refusal), request


@pytest.mark.parametrize("place", [{"tags": [TAG]}, {"executionMetadata": {"tags": [TAG]}}])
def test_tags_of_launchers_are_refused(place: dict[str, Any]) -> None:
    for request in spellings({"runConfigData": {}, **place})[::3]:
        refusal = _mutations(request)
        assert isinstance(refusal, Refusal)
        assert "dagster-k8s/config" in (refusal.found or "")


TEXT = "ops: {}" + " " * (MOST_CHARACTERS // 2)
NAMED = "mutation (%s) {a(%s) {b}}"


@pytest.mark.parametrize(
    ("query", "variables", "limit"),
    [
        # Each took seconds of the event loop: the same values, looked at again for each argument.
        (NAMED % ("$v: X", "x: $v, " * 4_000), {"v": [0] * 1_000}, "values in all arguments"),
        (NAMED % ("$v: X", f"x: [{'$v, ' * 4_000}]"), {"v": [0] * 1_000}, "values in all arguments"),
        (NAMED % ("$v: X", "x: {runConfigData: $v}, " * 900), {"v": {"ops": {"r": {"config": [1] * 9_000}}}}, "values"),
        (NAMED % ("$v: X", "x: {runConfigData: $v}, " * 900), {"v": TEXT}, "characters in all run configurations"),
    ],
    ids=["arguments", "list", "configuration", "text"],
)
def test_arguments_that_name_the_same_variable_share_one_limit(query: str, variables: Any, limit: str) -> None:
    refusal = _mutations({"query": query, "variables": variables})
    assert isinstance(refusal, Refusal)
    assert limit in (refusal.found or "")


def test_many_variables_are_read_once() -> None:
    class Counted(dict[str, Any]):
        reads = 0

        def keys(self) -> Any:
            self.reads += 1
            return super().keys()

    variables = Counted({f"v{number}": 0 for number in range(10)})
    check_launches(parse(NAMED % ("$v: X", "x: $v, " * 1_000)), variables)
    assert variables.reads <= 1


def test_the_most_partitions_of_a_backfill_pass() -> None:
    names = [str(number) for number in range(100_000)]
    query = "mutation ($b: LaunchBackfillParams!) {launchPartitionBackfill(backfillParams: $b) {__typename}}"
    mutations = _mutations({"query": query, "variables": {"b": {"partitionNames": names}}})
    assert mutations == frozenset({"launchPartitionBackfill"})
