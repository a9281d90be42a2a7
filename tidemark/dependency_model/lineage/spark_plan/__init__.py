"""Reads from Spark's analyzed plans: what a plan says, as data, in the terms that queries are bound to."""
