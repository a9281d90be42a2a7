"""What a project declares for its queries: variables, functions, views. Text takes their places, by a closed grammar.

No template is rendered and no code is run: a variable is a constant, a function an expression over its arguments, a
view a query. Everything else, such as offsets and column lineage, is then inferred from plain SQL.
"""
