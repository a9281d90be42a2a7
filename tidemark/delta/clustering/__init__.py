"""Clustering: rows with similar values of some columns go into the same files, so that filters read few files.

A sample of every file (`key_sample`) becomes a tree of splits (`column_ranks`, `tile_shape`, `tree_builder`,
`split_tree`). One pass over the data sends each row to its leaf, and writes a file for each leaf (`rewrite`). The
commit is an OPTIMIZE, which does not change the content (`commit_with_conflicts`). Statistics alone show the gain and
the best columns (`layout`, `advice`).
"""
