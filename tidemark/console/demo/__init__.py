"""The demo: recorded days of a real database, replayed, computed slice by slice, compared with its own answers."""
