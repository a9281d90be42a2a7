"""The dependency center: which slices are ready, and their launch as Dagster runs (A6)."""
