"""Profiles of a slice's rows (seed story of C9): in a form that merges, as figures, and compared with history."""
