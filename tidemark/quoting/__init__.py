"""Names and values as SQL text: the one place that quotes, one module a dialect."""
