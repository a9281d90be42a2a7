"""Sensors that a project puts into its code location."""

from tidemark.dagster.sensors.cluster import cluster_sensors
from tidemark.dagster.sensors.heartbeat import heartbeat_sensors
from tidemark.dagster.sensors.readiness import readiness_sensor

__all__ = ["cluster_sensors", "heartbeat_sensors", "readiness_sensor"]
