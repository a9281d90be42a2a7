"""Tidemark: each slice of data is computed exactly when its inputs are complete and correct."""
