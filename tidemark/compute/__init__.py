"""Computes slices: inputs as views, the query or function, one replaced partition, quality rules."""
