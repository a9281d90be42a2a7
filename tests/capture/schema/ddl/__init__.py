"""Statements that write no row events."""
