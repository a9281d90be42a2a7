"""Launchers of Dagster runs: by a sensor's tick, on warm workers, or in this process."""
