"""What happened and what is named: SQLite embedded, PostgreSQL by URL."""
