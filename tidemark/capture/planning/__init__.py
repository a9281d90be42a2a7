"""Where changes are cut into commits: at the ends of periods, and never in a way that a snapshot would show."""
