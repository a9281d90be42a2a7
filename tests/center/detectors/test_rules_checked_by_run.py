"""Quality by the checks that a run evaluated: a forged materialization stays unknown, whatever is reported with it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import dagster as dg
import httpx
import pytest
from dagster._core.workspace.context import WorkspaceProcessContext
from dagster._core.workspace.load_target import EmptyWorkspaceTarget
from dagster_webserver.app import create_app_from_workspace_process_context

from tests.center.test_center import CenterWorld
from tidemark.center.detectors.event_log import EventLogDetector
from tidemark.compute.anomaly_verdict import CHECK_NAME
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Quality, RunState

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DAY = "2024-06-02"
CHECKS = ("not_null", "row_count")
ALL = (True, True)
DAYS = dg.DailyPartitionsDefinition("2024-06-01", timezone="Europe/Paris")
RULES = "quality: [{not_null: [id]}, {row_count: {min: 1}}]"


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    with dg.instance_for_test(temp_dir=str(tmp_path)) as opened:
        yield opened


@pytest.fixture
def world(tmp_path: Path) -> CenterWorld:
    return CenterWorld(tmp_path, dwd=f"{{period: day, {RULES}}}", ads="{period: day, depends_on: [dwd]}")


def poll_state(world: CenterWorld, instance: dg.DagsterInstance) -> tuple[RunState, Quality, list[str]]:
    EventLogDetector(instance, world.center, world.store.read).poll()
    status = world.center.status(Slice("dwd", DAY))
    return status.run_state, status.quality, [name for name in world.ready() if name.startswith("ads@")]


def run(instance: dg.DagsterInstance, passed: tuple[bool, ...], name: str = "dwd") -> None:
    """A run of an asset that evaluates some checks, which are not blocking, and materializes."""
    specs = [dg.AssetCheckSpec(check, asset=name) for check, _ in zip(CHECKS, passed, strict=False)]

    @dg.asset(name=name, partitions_def=DAYS, check_specs=specs)
    def computed() -> Any:
        for check, is_good in zip(CHECKS, passed, strict=False):
            yield dg.AssetCheckResult(passed=is_good, check_name=check)
        yield dg.MaterializeResult()

    assert dg.materialize([computed], instance=instance, partition_key=DAY).success


def test_a_run_that_evaluated_its_checks_has_passed(world: CenterWorld, instance: dg.DagsterInstance) -> None:
    run(instance, ALL)
    assert poll_state(world, instance) == (RunState.COMPLETED, Quality.PASSED, [f"ads@{DAY}"])


@pytest.mark.parametrize("passed", [(), (True,), (True, False)])
def test_a_run_whose_checks_were_not_all_seen_to_pass_is_unknown(
    world: CenterWorld, instance: dg.DagsterInstance, passed: tuple[bool, ...]
) -> None:
    run(instance, passed)
    assert poll_state(world, instance) == (RunState.COMPLETED, Quality.UNKNOWN, [])


@pytest.mark.parametrize(
    ("checks", "severity", "quality"),
    [
        pytest.param(CHECKS, dg.AssetCheckSeverity.WARN, Quality.PASSED, id="a warning holds nothing back"),
        pytest.param(CHECKS, dg.AssetCheckSeverity.ERROR, Quality.UNKNOWN, id="an anomaly that blocks"),
        pytest.param(CHECKS[:1], dg.AssetCheckSeverity.WARN, Quality.UNKNOWN, id="an anomaly is no rule"),
    ],
)
def test_an_anomaly_is_no_rule_and_as_a_warning_holds_nothing_back(
    world: CenterWorld,
    instance: dg.DagsterInstance,
    checks: tuple[str, ...],
    severity: dg.AssetCheckSeverity,
    quality: Quality,
) -> None:
    specs = [dg.AssetCheckSpec(check, asset="dwd") for check in (*checks, CHECK_NAME)]

    @dg.asset(name="dwd", partitions_def=DAYS, check_specs=specs)
    def computed() -> Any:
        for check in checks:
            yield dg.AssetCheckResult(passed=True, check_name=check)
        yield dg.AssetCheckResult(passed=False, check_name=CHECK_NAME, severity=severity)
        yield dg.MaterializeResult()

    assert dg.materialize([computed], instance=instance, partition_key=DAY).success
    assert poll_state(world, instance)[1] is quality


@pytest.mark.slow
def test_checks_of_another_asset_do_not_count(world: CenterWorld, instance: dg.DagsterInstance) -> None:
    run(instance, ALL, name="other")
    run(instance, ())
    assert poll_state(world, instance)[1] is Quality.UNKNOWN


def test_what_is_reported_over_http_stays_unknown(world: CenterWorld, instance: dg.DagsterInstance) -> None:
    assert report_statuses(instance) == [200, 200, 200]
    assert poll_state(world, instance) == (RunState.COMPLETED, Quality.UNKNOWN, [])
    run(instance, ALL)
    assert poll_state(world, instance)[1] is Quality.PASSED


def report_statuses(instance: dg.DagsterInstance) -> list[int]:
    """The statuses of Dagster's web server for a forged materialization, and forged results of all of its checks."""

    async def answers() -> list[int]:
        with WorkspaceProcessContext(instance, EmptyWorkspaceTarget()) as context:
            transport = httpx.ASGITransport(create_app_from_workspace_process_context(context))
            async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
                forged = [("check", {"check_name": check, "passed": True, "partition": DAY}) for check in CHECKS]
                forged.append(("materialization", {"partition": DAY}))
                sent = [await client.post(f"/report_asset_{kind}/dwd", json=body) for kind, body in forged]
                return [response.status_code for response in sent]

    return asyncio.run(answers())
