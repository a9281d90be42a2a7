"""The present data of each entity (C3), read from the state store and checked against the tables' logs (D8)."""
