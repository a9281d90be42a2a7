"""One Spark session for each process, with Delta, tuned for small jobs on few cores."""
