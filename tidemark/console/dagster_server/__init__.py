"""Dagster's web server and daemon: start, readiness, stop."""
