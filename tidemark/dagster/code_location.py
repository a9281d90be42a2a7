"""The code location: every declared entity as an asset, the sensor that starts their slices, and that of heartbeats."""

import dagster as dg

from tidemark.capture.heartbeat.databases import databases
from tidemark.capture.operations.preflight.all import REFUSED, declared
from tidemark.dagster.definitions import build_definitions
from tidemark.dagster.sensors.heartbeat import heartbeat_sensor
from tidemark.dagster.sensors.readiness import readiness_sensor
from tidemark.system.finding import require_no_problem
from tidemark.system.settings import Settings
from tidemark.warehouse.warehouse import load_warehouse


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
