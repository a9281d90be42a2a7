"""Clustering: rows with similar values of a few columns into the same files, so that filters read few files.

A sample of every file (`key_sample`) becomes a tree of splits (`column_ranks`, `tile_shape`, `tree_builder`,
`split_tree`). One pass over the data sends each row to its leaf (`tree_sql`) and writes a leaf a file (`rewrite`); the
commit is an OPTIMIZE that changes no content (`commit_with_conflicts`). What it would give, and which columns to
choose, follows from statistics alone (`layout`, `advice`).
"""
