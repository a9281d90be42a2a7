"""All of Dagster that is used here and that Dagster does not promise to keep: nothing else of Tidemark imports it.

tests/dagster_internals lists each name; the version of Dagster is pinned, and a new one is tried with that test first.
"""
