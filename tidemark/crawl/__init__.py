"""The outside world: probes that look at external slices, and the one crawler that asks them (A5, C8)."""
