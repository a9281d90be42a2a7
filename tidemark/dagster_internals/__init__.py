"""All private names of Dagster that Tidemark uses. No other package imports them.

tests/dagster_internals lists each name. Dagster's version is pinned, and a new version is tried with that test first.
"""
