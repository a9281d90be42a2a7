"""Backup and restore of a project as one consistent copy: state store, Dagster's storage, and the lake's positions."""
