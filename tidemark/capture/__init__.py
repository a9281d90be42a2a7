"""Turns database changes, streamed or recorded in files, into complete, tagged snapshots of Delta tables."""
