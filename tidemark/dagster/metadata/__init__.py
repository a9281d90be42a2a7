"""Metadata of assets and materializations for Dagster's pages."""
