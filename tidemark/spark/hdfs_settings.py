"""Spark's settings for tables in HDFS, whose client Spark itself ships."""

from typing import Final

HDFS_SETTINGS: Final = {
    # A commit is written under a passing name, and renamed unless its own name is taken, as delta-rs does: the name
    # node lets one of both have it.
    "spark.delta.logStore.hdfs.impl": "io.delta.storage.HDFSLogStore",
    # Hadoop's configuration mostly names HDFS here, and a path without a scheme would be one there: ours are on disk.
    "spark.hadoop.fs.defaultFS": "file:///",
}
"""What commits are safe by, and what paths mean; nobody may set it otherwise."""
