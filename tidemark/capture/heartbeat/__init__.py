"""Evaluates heartbeats: whether a silent instance is idle or broken, and whether its clock is right (B3)."""
