"""Variables, functions and views that a project declares for its queries: text replaces them, by a closed grammar.

No template is rendered and no code is run. A variable is a constant, a function is an expression over its arguments, a
view is a query. Offsets and column lineage are then inferred from plain SQL.
"""
