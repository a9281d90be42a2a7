"""Checks before capture begins: declarations, topics and databases. Each function checks one subject."""
