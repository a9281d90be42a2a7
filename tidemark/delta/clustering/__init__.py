"""Clustering: rows with similar values of a few columns into the same files, so that filters read few files.

A sample of every file becomes a tree of splits (`keys`, `shape`, `grow`, `tree`); one pass over the data sends each row
to its leaf (`expression`) and writes a leaf a file; the commit is an OPTIMIZE that changes no content (`cluster`).
What it would give, and which columns to choose, is said from statistics alone (`layout`, `advice`).
"""
