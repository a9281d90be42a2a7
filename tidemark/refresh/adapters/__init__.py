"""One adapter module for each kind of target."""
