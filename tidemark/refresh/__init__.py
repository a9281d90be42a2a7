"""Caches, materialized tables and views, refreshed by the slice that changed (C7)."""
