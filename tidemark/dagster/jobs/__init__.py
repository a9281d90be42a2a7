"""Jobs on tables: repair, clustering, VACUUM."""
