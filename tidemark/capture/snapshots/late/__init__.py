"""Changes that come when the snapshot of their time is tagged: counted, and put into it where a table says so (B2)."""
