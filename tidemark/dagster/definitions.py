"""Dagster's definitions: an asset with checks for each entity, and jobs. A project adds sensors and resources."""

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
    """The definitions of a loaded warehouse without resources.

    A run is one process, whose steps share a Spark session. `own` are assets that the project writes itself. One with
    an entity's name replaces that entity's asset.
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
    """The same definitions with the resources of the warehouse's settings, for use without a project."""
    resources = dg.Definitions(resources=engine_resources(warehouse.settings))
    return dg.Definitions.merge(warehouse_definitions(warehouse), resources)
