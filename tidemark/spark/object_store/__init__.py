"""Spark with its tables in an object store: the jars, the settings, and Delta's log by conditional puts."""
