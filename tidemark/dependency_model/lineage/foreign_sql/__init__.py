"""SQL that was written for other systems: their placeholders, what these mean, and what is written here instead.

A closed set of expressions is recognised by its text; nothing is rendered or run.
"""
