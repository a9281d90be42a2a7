"""The code location: every declared entity as an asset."""

import dagster as dg

from resources.settings import Settings
from warehouse_assets.factory import build_assets
from warehouse_assets.runtime import Runtime
from warehouse_assets.warehouse import Warehouse, load_warehouse


@dg.definitions
def definitions() -> dg.Definitions:
    """What `dagster dev` loads; the environment is read here and nowhere further in."""
    return build_definitions(load_warehouse(Settings.load()))


def build_definitions(warehouse: Warehouse) -> dg.Definitions:
    """Definitions of a loaded warehouse. One process a run: a run's steps share its Spark session."""
    return dg.Definitions(assets=build_assets(Runtime(warehouse)), executor=dg.in_process_executor)
