"""What assets and their materializations show on Dagster's pages."""
