"""The dependency center: finds ready slices and launches them as Dagster runs (A6)."""
