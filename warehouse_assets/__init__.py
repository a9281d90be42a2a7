"""What is computed: one YAML and one SQL file an entity, and the factory that turns them into Dagster assets."""
