"""A caller can set only plain values of ops in a run's configuration."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tidemark.system.run_config import MOST_CHARACTERS, RunConfigRefusedError, check_run_config, check_run_tags

PLAIN: tuple[Any, ...] = (
    *({}, None, "", "{}\n", "ops: {}"),
    {"ops": {"vacuum_tables": {"config": {"entities": ["ods_users"], "dry_run": True}}}},
    "ops:\n  repair_partition:\n    config:\n      entity: env\n      partition: '2026-03-29'\n",
    {"ops": {"graph": {"ops": {"inner": {"config": 5}}}}},
    # What Dagster's launchpad fills in where a section has no values.
    {"ops": {}, "resources": {"lake": {}, "io_manager": {"config": {}}}, "execution": {"config": {}}, "loggers": {}},
    {"ops": {"x": {"config": {"env": "a", "more": 1}}}},
)
ENV = {"env": "AWS_SECRET_ACCESS_KEY"}
AGENT = {"spark.driver.extraJavaOptions": "-javaagent:agent/a.jar"}


def merged(levels: int) -> str:
    """Mappings that each merge twenty copies of the one before."""
    below = (f"a{n}: &a{n} {{<<: [{f'*a{n - 1},' * 20}]}}" for n in range(1, levels))
    return "\n".join(["a0: &a0 {k: 1, l: 2}", *below])


REFUSED: tuple[Any, ...] = (
    {"resources": {"lake": {"config": {"tables": ENV}}}},
    {"resources": {"lake": {"config": {"tables": "/tmp/forged"}}}},
    {"resources": {"spark": {"config": {"spark_config": AGENT}}}},
    {"resources": {"io_manager": {"config": {"base_dir": "/tmp"}}}},
    {"resources": {"state_store": {"config": {"url": "postgresql://x"}}}},
    {"resources": "x"},
    {"resources": {"x": [1]}},
    {"execution": {"config": {"retries": {"disabled": {}}, "marker_to_close": "x"}}},
    {"loggers": {"console": {"config": {"name": "x"}}}},
    {"ops": {"repair_partition": {"config": {"entity": ENV}}}},
    {"ops": {"repair_partition": {"config": {"from_version": ENV}}}},
    {"ops": {"x": {"config": ENV}}},
    {"ops": {"x": {"config": {"deep": [{"er": [ENV]}]}}}},
    {"ops": {"x": {"inputs": {"rows": {"pickle": {"path": "/tmp/a.pickle"}}}}}},
    {"ops": {"g": {"ops": {"x": {"inputs": {"rows": {"json": {"path": "/etc/passwd"}}}}}}}},
    {"ops": {"x": {"outputs": [{"result": {"json": {"path": "/tmp/x"}}}]}}},
    *({"ops": ["x"]}, {"ops": {"x": "y"}}, {"Resources": {"x": 1}}, {"anything": 1}, [], 5, "- a", "5"),
    "resources: {lake: {config: {tables: /tmp/forged}}}",
    "a: &a {lake: {config: {tables: x}}}\nresources: *a",
    "<<: {resources: {lake: {config: {tables: x}}}}",
    "!!python/object/apply:os.system [id]",
    "ops: " + "[" * 5_000,
    "ops: {x: {config: [" + "[']', " * 65 + "]" * 66 + "}}",
    "ops: {x: {config: [" + "1," * MOST_CHARACTERS + "]}}",
    # Merge keys copy what they name: five levels of 20 took half a minute, and six the memory.
    *(merged(2), merged(7)),
    "ops: {x: {config: {a: &a 1, b: *a}}}",
    (
        "ops: {x: {config: [&a [1,1,1,1,1,1,1,1,1], &b [*a,*a,*a,*a,*a,*a,*a,*a,*a], &c [*b,*b,*b,*b,*b,*b,*b,*b,*b],"
        "&d [*c,*c,*c,*c,*c,*c,*c,*c,*c], &e [*d,*d,*d,*d,*d,*d,*d,*d,*d], [*e,*e,*e,*e,*e,*e,*e,*e,*e]]}}"
    ),
)


@pytest.mark.parametrize("config", PLAIN, ids=lambda config: json.dumps(config)[:60])
def test_plain_values_of_ops_pass(config: Any) -> None:
    check_run_config(config)


@pytest.mark.parametrize("config", REFUSED, ids=lambda config: json.dumps(config)[:60])
def test_everything_else_is_refused(config: Any) -> None:
    with pytest.raises(RunConfigRefusedError, match="a launcher of runs cannot set this part"):
        check_run_config(config)


@pytest.mark.parametrize("tag", ["dagster-k8s/config", "Dagster-K8s/config", "dagster/image", ".dagster/grpc_info"])
def test_tags_that_configure_launchers_are_refused(tag: str) -> None:
    with pytest.raises(RunConfigRefusedError, match="the tag"):
        check_run_tags(["dagster/priority", tag])


def test_other_tags_pass() -> None:
    check_run_tags(["dagster/priority", "tidemark/run", "team", ".dagster/repository", None, 5])
