"""All uses of Delta's private interfaces: calls through py4j, and log files that are read by hand."""
