"""Completeness of windows by counts: what the source has against what the lake has (seed capability C4)."""
