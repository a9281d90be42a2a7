"""The command line `tidemark`."""
