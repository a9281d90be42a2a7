"""Capture in operation: a step, its report and status, preflight checks, and the replay of the dead-letter queue."""
