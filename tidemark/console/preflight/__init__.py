"""Checks of this machine before the warehouse runs: one function for each, which returns a Finding."""
