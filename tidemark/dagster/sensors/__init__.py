"""Sensors that a project puts into its code location."""
