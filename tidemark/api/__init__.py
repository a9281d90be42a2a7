"""Detection by API call: other schedulers and systems report over HTTP, and ask what a slice waits for."""
