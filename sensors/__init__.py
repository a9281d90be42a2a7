"""When: what turns facts about data into runs."""
