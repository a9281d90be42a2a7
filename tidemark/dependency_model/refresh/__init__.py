"""Updates of caches and materialized views after changes of slices: which ones, and when (seed capability C7)."""
