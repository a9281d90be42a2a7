"""External data: probes that look at external slices, and the crawler that runs them (A5, C8)."""
