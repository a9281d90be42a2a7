"""The state store: transitions, tags and notes, in SQLite or PostgreSQL."""
