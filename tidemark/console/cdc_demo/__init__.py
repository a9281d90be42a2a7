"""The whole chain on this machine: databases with changing rows, their capture, and computed tables."""
