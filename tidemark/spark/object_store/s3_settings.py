"""Spark's settings for tables in S3."""

from pathlib import Path

from tidemark.spark.object_store.log_store_jar import LOG_STORE
from tidemark.system.object_access import ObjectAccess


def s3_settings(access: ObjectAccess, scratch: Path) -> dict[str, str]:
    """No credentials are among them: the file system finds these in the environment, or by the machine's role."""
    settings = {
        "spark.delta.logStore.s3a.impl": LOG_STORE,
        "spark.hadoop.fs.s3a.endpoint.region": access.region,
        # What waits to be sent; else it is a folder of Hadoop's own.
        "spark.hadoop.fs.s3a.buffer.dir": str(scratch / "s3a"),
    }
    if access.endpoint:
        settings |= {
            "spark.hadoop.fs.s3a.endpoint": access.endpoint,
            "spark.hadoop.fs.s3a.path.style.access": "true",
            "spark.hadoop.fs.s3a.connection.ssl.enabled": str(access.is_encrypted).lower(),
        }
    return settings
