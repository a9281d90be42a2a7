"""Slices in another lake: copied file by file, verified, and published there in one commit (C6)."""
