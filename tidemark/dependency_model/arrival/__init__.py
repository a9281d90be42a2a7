"""The times to probe external data: learned arrival times, intervals, back-off, freshness, circuit breakers (C8)."""
