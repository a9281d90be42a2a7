"""Reads from Spark's analyzed plans: a plan as data, in the terms to which queries are bound."""
