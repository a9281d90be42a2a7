"""Completeness of windows by counts: the records in the source compared with the records in the lake (C4)."""
