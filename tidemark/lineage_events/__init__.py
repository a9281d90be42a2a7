"""OpenLineage events of runs, by its own client: what each slice was computed of, for other catalogs to read."""
