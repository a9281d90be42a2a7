"""Capture as it is run: a step, its report and status, the checks before it, and dead letters read again."""
