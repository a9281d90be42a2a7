"""Delta's private interfaces, the only place that knows them: through py4j, and the log's files read by hand."""
