"""From recorded or streamed database changes to complete, named snapshots of Delta tables."""
