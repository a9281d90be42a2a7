"""The metadata of a Delta commit of captured changes: capture's progress in the table, and the version's slices."""
