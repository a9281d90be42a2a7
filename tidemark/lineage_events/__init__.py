"""OpenLineage events of runs, by its own client: other catalogs read from them the inputs of each slice."""
