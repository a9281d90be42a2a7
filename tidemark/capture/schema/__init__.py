"""Columns of captured tables: the source's types and schema changes, and the lake's columns that follow from them."""
