"""Planned batches into Delta tables: values parsed, merged, committed with offsets and watermarks."""
