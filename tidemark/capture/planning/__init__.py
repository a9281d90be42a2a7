"""Plans the commits of a table: changes are cut at the ends of periods, so that a snapshot is exact."""
