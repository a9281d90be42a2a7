"""Every declared entity as an asset; `sensors.definitions` makes them a code location."""

import dagster as dg

from warehouse_assets.factory import build_assets
from warehouse_assets.runtime import Runtime
from warehouse_assets.warehouse import Warehouse


def build_definitions(warehouse: Warehouse) -> dg.Definitions:
    """Definitions of a loaded warehouse. One process a run: a run's steps share its Spark session."""
    return dg.Definitions(assets=build_assets(Runtime(warehouse)), executor=dg.in_process_executor)
