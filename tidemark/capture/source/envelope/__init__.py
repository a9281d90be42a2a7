"""Adapters that turn the messages of capture software into one form of change record."""
