"""Columns of captured tables: the source's types and schema changes, and what they make of the lake's columns."""
