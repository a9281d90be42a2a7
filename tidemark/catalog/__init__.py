"""What is there now of each entity (C3), answered from the state store, and kept true by the tables' own logs (D8)."""
