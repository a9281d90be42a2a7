"""Versions that stand for a slice: how they are tagged, and what becomes of changes that come late."""
