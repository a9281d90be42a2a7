"""One consistent copy of a project: state store, Dagster's storage, the lake's positions; and the way back."""
