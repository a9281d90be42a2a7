"""One module a kind of source: how it is looked at."""
