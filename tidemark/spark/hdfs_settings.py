"""Spark's settings for tables in HDFS. Spark itself has the client."""

from typing import Final

HDFS_SETTINGS: Final = {
    # A commit is written under a temporary name, and renamed unless its own name is in use, as in delta-rs. The name
    # node lets only one of two writers have the name.
    "spark.delta.logStore.hdfs.impl": "io.delta.storage.HDFSLogStore",
    # Hadoop's configuration usually has HDFS here, so paths without a scheme would be in HDFS. Ours are on disk.
    "spark.hadoop.fs.defaultFS": "file:///",
}
"""Settings for safe commits and for the meaning of paths. Users cannot change them."""
