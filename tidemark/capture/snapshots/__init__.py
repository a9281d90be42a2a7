"""Versions that stand for a slice: how they get their names, and what becomes of changes that come late."""
