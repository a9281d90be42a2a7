"""Every declared entity as an asset, and the job that repairs one partition; `sensors.definitions` makes a location."""

import dagster as dg

from warehouse_assets.cluster_job import cluster_job, completed_slices, nightly
from warehouse_assets.factory import build_assets
from warehouse_assets.heartbeat_check import heartbeat_checks
from warehouse_assets.repair_job import repair_job
from warehouse_assets.runtime import Runtime
from warehouse_assets.warehouse import Warehouse


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
