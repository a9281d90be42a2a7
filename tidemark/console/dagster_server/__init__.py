"""Dagster's web server and daemon as one thing that is started, asked whether it is ready, and stopped."""
