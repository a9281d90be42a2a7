"""When the slices of this project are computed."""

import dagster as dg

from tidemark.dagster.sensors import cluster_sensors, heartbeat_sensors, readiness_sensor
from tidemark.warehouse.warehouse import Warehouse


def sensors(warehouse: Warehouse) -> list[dg.SensorDefinition]:
    """Start what is ready; write and watch heartbeats; cluster slices as they complete. Add your own here."""
    return [readiness_sensor(warehouse), *heartbeat_sensors(warehouse), *cluster_sensors(warehouse)]
