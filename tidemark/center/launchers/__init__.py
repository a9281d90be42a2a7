"""How slices are run in Dagster: asked for in a sensor's tick, handed to warm workers, executed in this process."""
