"""The HTTP interface: other schedulers and systems report events, and read what a slice waits for."""
