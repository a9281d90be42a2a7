"""What statements that write no row events do to rows, read by a closed list of what is known."""
