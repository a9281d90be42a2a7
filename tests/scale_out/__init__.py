"""The lake in a real S3 server and Spark on a real cluster together, with each part killed in mid-flow."""
