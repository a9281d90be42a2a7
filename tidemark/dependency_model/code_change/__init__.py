"""What a change of an entity's code does to its rows (seed capability D4): by words, by sqlglot's trees, by columns."""
