"""Replicates slices to another lake: copies files, verifies them, and publishes each slice in one commit (C6)."""
