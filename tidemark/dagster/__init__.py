"""Turns declarations into Dagster's assets, partitions, mappings, checks, jobs and sensors."""
