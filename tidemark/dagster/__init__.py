"""From declarations to Dagster: assets, partitions, mappings, checks, jobs and sensors."""
