"""Every declared entity as an asset with its checks, and the jobs on tables; a project adds sensors and resources."""

from collections.abc import Sequence

import dagster as dg

from tidemark.dagster.assets import build_assets
from tidemark.dagster.external_checks import external_checks
from tidemark.dagster.heartbeat_checks import heartbeat_checks
from tidemark.dagster.jobs.cluster import cluster_job, nightly
from tidemark.dagster.jobs.repair import repair_job
from tidemark.dagster.jobs.vacuum import vacuum_job
from tidemark.dagster.resources import engine_resources
from tidemark.dagster_internals.closed_executor import closed_executor
from tidemark.warehouse.warehouse import Warehouse


def warehouse_definitions(warehouse: Warehouse, own: Sequence[dg.AssetsDefinition] = ()) -> dg.Definitions:
    """Definitions of a loaded warehouse without resources. One process a run: a run's steps share its Spark session.

    `own` are assets that the project writes itself; one that has an entity's name stands for that entity.
    """
    clustering = cluster_job(warehouse)
    names = {key.to_user_string() for asset in own for key in asset.keys}
    return dg.Definitions(
        assets=[*build_assets(warehouse, names), *own],
        asset_checks=[*heartbeat_checks(warehouse), *external_checks(warehouse, names)],
        jobs=[clustering, repair_job(warehouse), vacuum_job(warehouse)],
        schedules=[nightly(clustering, warehouse)],
        executor=closed_executor,
    )


def build_definitions(warehouse: Warehouse) -> dg.Definitions:
    """The same with the resources that the warehouse's settings name, for who runs it without a project."""
    resources = dg.Definitions(resources=engine_resources(warehouse.settings))
    return dg.Definitions.merge(warehouse_definitions(warehouse), resources)
