"""What a run's configuration reaches, asked of every job of the sample's code location: plain values of three ops."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import dagster as dg
import pytest
from dagster._core.snap import JobSnap
from dagster._core.snap.snap_to_yaml import default_values_yaml_from_type_snap

from tests.compute.small_warehouse import small_warehouse
from tests.system.test_run_config import REFUSED
from tidemark.dagster.definitions import build_definitions
from tidemark.system.run_config import RunConfigRefusedError, check_run_config
from tidemark.warm_runs.launcher import WarmRunLauncher
from tidemark.warm_runs.run_queue import PooledRunQueue

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

REACHED = {
    *(f"ops.cluster_tables.config.{name}" for name in ("entities", "partitions", "small_files", "only", "target_mb")),
    *(f"ops.repair_partition.config.{name}" for name in ("entity", "partition", "from_version", "from_tag")),
    *(f"ops.repair_partition.config.{name}" for name in ("recompute", "dry_run")),
    *(f"ops.vacuum_tables.config.{name}" for name in ("entities", "keep_versions", "keep_days", "dry_run")),
    # Dagster's own: closed by the executor, which is asked before any resource is made.
    *("resources.io_manager.config", "resources.io_manager.config.base_dir"),
    *("loggers.console.config.log_level", "loggers.console.config.name"),
}
FROM_ENVIRONMENT = ("StringSourceType", "IntSourceType", "BoolSourceType")


@pytest.fixture
def definitions(tmp_path: Path) -> dg.Definitions:
    return build_definitions(small_warehouse(tmp_path))


def leaves(type_: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Each place of a configuration that takes a value, with its type."""
    fields = getattr(type_, "fields", None)
    if fields is None:
        yield ".".join(path), type_
        return
    for name, field in fields.items():
        yield from leaves(field.config_type, (*path, name))


def test_every_job_takes_plain_values_of_its_op_alone(definitions: dg.Definitions) -> None:
    jobs = [*definitions.resolve_all_job_defs(), definitions.resolve_implicit_global_asset_job_def()]
    assert {"cluster", "repair", "vacuum"} <= {job.name for job in jobs}
    reached = {place: type_ for job in jobs for place, type_ in leaves(job.run_config_schema.config_type)}
    of_assets = {place for place in reached if place.endswith(".config") and place.startswith("ops.")}
    assert reached.keys() - of_assets <= REACHED
    ours = [type_ for place, type_ in reached.items() if place.startswith("ops.") and place not in of_assets]
    assert ours
    for type_ in ours:
        assert not any(name in repr(type_.key) for name in FROM_ENVIRONMENT), type_.key


def test_the_defaults_of_dagsters_launchpad_are_accepted(definitions: dg.Definitions) -> None:
    for name in ("repair", "cluster", "vacuum"):
        job = JobSnap.from_job_def(definitions.resolve_job_def(name))
        root = job.config_schema_snapshot.get_config_snap(job.mode_def_snaps[0].root_config_key or "")
        filled = default_values_yaml_from_type_snap(job.config_schema_snapshot, root)
        assert filled.startswith("ops:")
        check_run_config(filled)


def test_a_runs_configuration_cannot_set_fields_of_resources(definitions: dg.Definitions) -> None:
    job = definitions.resolve_job_def("vacuum")
    for resource, field in (("lake", "tables"), ("spark", "spark_config"), ("state_store", "url"), ("olap", "url")):
        config = {"resources": {resource: {"config": {field: {"env": "HOME"}}}}}
        with pytest.raises(dg.DagsterInvalidConfigError):
            dg.validate_run_config(job, config)


@pytest.mark.parametrize("config", [config for config in REFUSED if isinstance(config, dict)][:12])
def test_queue_and_launcher_refuse_the_same_as_the_guard(config: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDEMARK_STATE", "")
    run = dg.DagsterRun("repair", run_config=config)
    for take in (WarmRunLauncher().launch_run, PooledRunQueue(max_concurrent_runs=1).submit_run):
        with pytest.raises(RunConfigRefusedError):
            take(_context(run))


def test_queue_and_launcher_refuse_a_pod_of_the_callers() -> None:
    run = dg.DagsterRun("repair", tags={"dagster-k8s/config": "{}"})
    for take in (WarmRunLauncher().launch_run, PooledRunQueue(max_concurrent_runs=1).submit_run):
        with pytest.raises(RunConfigRefusedError):
            take(_context(run))


def test_the_run_itself_refuses(definitions: dg.Definitions, tmp_path: Path) -> None:
    """As a process of its own has it, where no launcher of ours was asked."""
    job = definitions.resolve_job_def("vacuum")
    config = {"resources": {"io_manager": {"config": {"base_dir": str(tmp_path)}}}}
    with dg.DagsterInstance.ephemeral() as instance:
        run = instance.create_run_for_job(job, run_config=config)
        from dagster._core.definitions.job_base import InMemoryJob
        from dagster._core.execution.api import execute_run

        with pytest.raises(RunConfigRefusedError, match="resources"):
            execute_run(InMemoryJob(job), run, instance, raise_on_error=True)


def _context(run: dg.DagsterRun) -> Any:
    """What Dagster hands to its queue and to its launcher."""
    return SimpleNamespace(dagster_run=run, workspace=None)
