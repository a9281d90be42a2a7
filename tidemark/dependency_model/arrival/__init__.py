"""When external data is looked at: learned arrival, intervals, back-off, freshness, a system's circuit breaker (C8)."""
