"""The code location: every declared entity as an asset, the sensor that starts their slices, and that of heartbeats."""

import dagster as dg

from resources.capture.heartbeat.databases import databases
from resources.capture.preflight.all import REFUSED, declared
from resources.finding import require_no_problem
from resources.settings import Settings
from sensors.heartbeat_sensor import heartbeat_sensor
from sensors.readiness_sensor import readiness_sensor
from warehouse_assets.definitions import build_definitions
from warehouse_assets.warehouse import load_warehouse


@dg.definitions
def definitions() -> dg.Definitions:
    """What `dagster dev` loads; the environment is read here and nowhere further in.

    Raises PreflightError for what can be told without asking Kafka or a database: a location is loaded often.
    """
    settings = Settings.load()
    warehouse = load_warehouse(settings)
    require_no_problem(declared(settings, warehouse.source_tables()), REFUSED)
    sources = databases(settings.databases.get_secret_value())
    sensors = [readiness_sensor(warehouse), *([heartbeat_sensor(sources, warehouse)] if sources else [])]
    return dg.Definitions.merge(build_definitions(warehouse), dg.Definitions(sensors=sensors))
