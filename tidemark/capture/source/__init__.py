"""Records of changes on their way in: from files or Kafka, in whatever envelope, as one change record."""
