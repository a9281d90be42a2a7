"""Locations, queries and a table by which other engines read slices and tags of the lake."""
