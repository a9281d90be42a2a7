"""The catalog, and its reconciliation with real Delta tables."""
