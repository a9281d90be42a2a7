"""What has to be told to caches and materialized views, and when (seed capability C7)."""
