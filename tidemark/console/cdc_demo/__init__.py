"""The whole chain on this machine: databases in which something happens, their capture, and what is made of it."""
