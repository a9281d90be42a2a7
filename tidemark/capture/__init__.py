"""From recorded or streamed database changes to complete, tagged snapshots of Delta tables."""
