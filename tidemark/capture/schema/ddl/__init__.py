"""The effects on rows of statements that write no row events, by a closed list of known statements."""
