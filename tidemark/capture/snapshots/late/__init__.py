"""Changes that come when the snapshot of their time is named: counted, and put into it where a table says so (B2)."""
