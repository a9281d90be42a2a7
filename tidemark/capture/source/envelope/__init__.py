"""What capture software writes, as one kind of change record; an adapter for each."""
