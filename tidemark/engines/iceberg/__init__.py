"""Iceberg metadata for the files of Delta tables, with a tag for each slice."""
