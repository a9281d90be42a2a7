"""Every declared entity as an asset, and the jobs on them; `code_location` adds the sensors."""

import dagster as dg

from tidemark.compute.runtime import Runtime
from tidemark.dagster.assets import build_assets
from tidemark.dagster.checks import heartbeat_checks
from tidemark.dagster.jobs.cluster import cluster_job, completed_slices, nightly
from tidemark.dagster.jobs.repair import repair_job
from tidemark.warehouse.warehouse import Warehouse


def build_definitions(warehouse: Warehouse) -> dg.Definitions:
    """Definitions of a loaded warehouse. One process a run: a run's steps share its Spark session."""
    runtime = Runtime(warehouse)
    clustering = cluster_job(runtime)
    return dg.Definitions(
        assets=build_assets(runtime),
        asset_checks=heartbeat_checks(warehouse),
        jobs=[clustering, repair_job(runtime)],
        schedules=[nightly(clustering)],
        sensors=[*completed_slices(runtime, clustering)],
        executor=dg.in_process_executor,
    )
