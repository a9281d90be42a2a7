"""How other engines read slices and tags of the lake's tables."""
