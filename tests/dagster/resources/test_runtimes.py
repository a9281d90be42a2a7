"""From settings to resources and back: what a project changes is what the engine runs with, and no run changes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dagster as dg
import pytest

from tests.compute.small_warehouse import small_warehouse
from tidemark.dagster.resources import engine_resources
from tidemark.dagster.resources.lake import LakeResource
from tidemark.dagster.resources.olap import OlapResource
from tidemark.dagster.resources.runtimes import Runtimes
from tidemark.dagster.resources.secret import from_environment
from tidemark.dagster.resources.spark import SparkResource
from tidemark.dagster.resources.state_store import StateStoreResource
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

_POSTGRES = "postgresql+psycopg2://bi:secret@db/bi"


def test_settings_come_back_as_they_were(tmp_path: Path) -> None:
    warehouse = small_warehouse(tmp_path)
    settings = warehouse.settings
    state_store = StateStoreResource.of(settings)
    resources = SparkResource.of(settings), LakeResource.of(settings, state_store), state_store
    runtime = Runtimes(warehouse).of(*resources, OlapResource.of(settings))
    assert runtime.warehouse.settings == settings


def test_runs_with_the_same_resources_share_a_runtime(tmp_path: Path) -> None:
    warehouse = small_warehouse(tmp_path)
    runtimes = Runtimes(warehouse)
    first = runtimes.of(SparkResource.of(warehouse.settings))
    assert runtimes.of(SparkResource.of(warehouse.settings)) is first
    larger = SparkResource.of(warehouse.settings.model_copy(update={"spark_memory": "7g"}))
    assert runtimes.of(larger).warehouse.settings.spark_memory == "7g"
    further = SparkResource(**{**SparkResource.of(warehouse.settings).model_dump(), "spark_config": {"spark.x": "1"}})
    assert runtimes.of(further) is not first


def test_a_run_overrides_no_resource(tmp_path: Path) -> None:
    told: list[object] = []

    @dg.op
    def ask(olap: OlapResource, state_store: StateStoreResource) -> None:
        told.extend([olap.as_settings(), state_store.as_settings()])

    @dg.job
    def job() -> None:
        ask()

    settings = Settings.at(tmp_path)
    bound = dg.Definitions(jobs=[job], resources=engine_resources(settings)).resolve_job_def("job")
    config = {"resources": {"state_store": {"config": {"file": str(tmp_path / "other.db")}}}}
    with pytest.raises(dg.DagsterInvalidConfigError, match="unexpected config entry"):
        bound.execute_in_process(run_config=config)
    assert bound.execute_in_process().success
    assert told == [{"olap": "duckdb"}, {"state": "", "state_db": settings.state_db}]


def test_an_address_is_named_by_its_variable_and_read_when_a_run_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIDEMARK_OLAP", _POSTGRES)
    resource = OlapResource.of(Settings.at(tmp_path, olap=_POSTGRES))
    assert repr(resource.url) == repr(dg.EnvVar("TIDEMARK_OLAP"))
    told: list[str] = []

    @dg.op
    def ask(olap: OlapResource) -> None:
        told.append(olap.url)

    @dg.job(resource_defs={"olap": resource})
    def job() -> None:
        ask()

    assert job.execute_in_process().success
    assert told == [_POSTGRES]


def test_a_value_that_comes_from_no_variable_stays_a_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TIDEMARK_OLAP", raising=False)
    assert from_environment("olap", "duckdb") == "duckdb"
    monkeypatch.setenv("TIDEMARK_OLAP", "another")
    assert from_environment("olap", "duckdb") == "duckdb"
