"""The demo: recorded days of a real database, replayed, computed, and compared with its own answers."""
