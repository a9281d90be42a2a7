"""The effect of a code change on an entity's rows (seed capability D4): by words, by sqlglot's trees, by columns."""
