"""Applies planned batches to Delta tables: parses values, merges rows, and commits them with offsets and watermarks."""
