"""A project's declarations, read together: entities, their graph, their SQL and their columns."""
