"""All that SECURITY.md names, at once and for minutes, against the center and Dagster's pages while they work."""
