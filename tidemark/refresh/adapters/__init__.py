"""How targets are refreshed, one module a kind."""
