"""Detectors report facts.

By subscription (event log, topic), by inspection (snapshots, wiped data), and by API call.
"""
