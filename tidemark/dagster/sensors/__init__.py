"""Sensors for a project's code location."""

from tidemark.dagster.sensors.cluster_completed_slices import cluster_sensors
from tidemark.dagster.sensors.readiness import readiness_sensor
from tidemark.dagster.sensors.write_and_watch_heartbeats import heartbeat_sensors

__all__ = ["cluster_sensors", "heartbeat_sensors", "readiness_sensor"]
