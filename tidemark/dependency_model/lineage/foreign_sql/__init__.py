"""SQL of other systems: their placeholders, the meaning of these, and the replacements.

A closed set of expressions is recognised by its text; nothing is rendered or run.
"""
