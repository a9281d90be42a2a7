"""Tags versions as snapshots of slices, and adds late changes to them."""
