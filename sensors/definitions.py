"""The code location: every declared entity as an asset, and the readiness sensor that starts their slices."""

import dagster as dg

from resources.settings import Settings
from sensors.readiness_sensor import readiness_sensor
from warehouse_assets.definitions import build_definitions
from warehouse_assets.warehouse import load_warehouse


@dg.definitions
def definitions() -> dg.Definitions:
    """What `dagster dev` loads; the environment is read here and nowhere further in."""
    warehouse = load_warehouse(Settings.load())
    return dg.Definitions.merge(build_definitions(warehouse), dg.Definitions(sensors=[readiness_sensor(warehouse)]))
