"""What is computed: a YAML file an entity, and the query or the function beside it."""
