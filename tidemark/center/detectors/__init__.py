"""How facts come in: by subscription (event log, topic), by inspection (snapshots, wiped data), and by API call."""
