"""Capture as it is run: a step, its report and status, the checks before it, the replay of the dead-letter queue."""
