"""What a run tells after it was closed counts for nothing, where its slice is another run's by then."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dagster as dg
import pytest
import yaml
from dagster._core.events import StepMaterializationData

from tests.state_store.conftest import empty_database
from tidemark.center.detectors.late_results import LateResults
from tidemark.dependency_model.slice import Slice

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.components.postgres import Postgres

SLICE = Slice("table", "2026-03-25")


@dg.job
def nothing() -> None:
    pass


@pytest.fixture
def instance(postgres_server: Postgres, tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    storage = {"postgres": {"postgres_url": empty_database(postgres_server.url, tmp_path)}}
    (tmp_path / "dagster.yaml").write_text(yaml.safe_dump({"storage": storage, "telemetry": {"enabled": False}}))
    with dg.DagsterInstance.from_config(str(tmp_path)) as made:
        yield made


def told(instance: dg.DagsterInstance, run_id: str) -> tuple[str, int]:
    """A materialization by a run, with its number."""
    instance.report_dagster_event(
        dg.DagsterEvent(
            event_type_value=dg.DagsterEventType.ASSET_MATERIALIZATION.value,
            job_name="nothing",
            event_specific_data=StepMaterializationData(dg.AssetMaterialization("table")),
        ),
        run_id,
    )
    (record,) = instance.fetch_materializations(dg.AssetKey("table"), limit=1).records
    return run_id, record.storage_id


@pytest.mark.components
def test_what_comes_after_the_end_of_its_run_is_late_once_another_run_has_the_slice(
    instance: dg.DagsterInstance,
) -> None:
    first, second = (instance.create_run_for_job(nothing).run_id for _ in range(2))
    late, in_time = LateResults(), told(instance, first)
    assert not late.is_late(instance, SLICE, {SLICE: second}, first, in_time), "its run goes on"
    run = instance.get_run_by_id(first)
    assert run is not None
    instance.report_run_failed(run, "its host was given up")
    after = told(instance, first)
    assert not late.is_late(instance, SLICE, {SLICE: second}, first, in_time), "it came before the end"
    assert late.is_late(instance, SLICE, {SLICE: second}, first, after)
    assert not late.is_late(instance, SLICE, {SLICE: first}, first, after), "nobody else has the slice"
    assert not late.is_late(instance, SLICE, {}, first, after)


def test_where_dagsters_storage_is_a_file_nothing_is_late() -> None:
    with dg.DagsterInstance.ephemeral() as alone:
        assert not LateResults().is_late(alone, SLICE, {SLICE: "second"}, "first", ("first", 7))
