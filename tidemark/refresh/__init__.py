"""Refreshes caches, materialized tables and views after a slice changed (C7)."""
