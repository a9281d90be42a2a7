"""One Spark session a process, with Delta, tuned for small jobs on few cores."""
