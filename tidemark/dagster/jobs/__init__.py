"""Jobs that work on tables: repair, clustering, VACUUM."""
