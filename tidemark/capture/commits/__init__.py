"""What a Delta commit of captured changes says: where capture stands in the table, and what the version is of."""
