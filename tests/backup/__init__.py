"""Backups of a small project without Spark: its store, its Dagster and its tables are real."""
