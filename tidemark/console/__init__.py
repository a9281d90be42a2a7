"""What people use: the `tidemark` command line."""
