"""The probes: one module for each kind of source."""
