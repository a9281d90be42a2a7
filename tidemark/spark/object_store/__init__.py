"""Spark with tables in an object store: jars, settings, and Delta's log by conditional puts."""
