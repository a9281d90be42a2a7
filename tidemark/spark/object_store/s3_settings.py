"""Spark's settings for tables in S3."""

from typing import Final

from tidemark.system.s3_access import S3Access

FILE_MANAGER: Final = "tidemark.ConditionalPutFileManager"
LOG_STORE: Final = "tidemark.ConditionalPutLogStore"
_CREDENTIALS: Final = (
    "software.amazon.awssdk.auth.credentials.EnvironmentVariableCredentialsProvider",
    "software.amazon.awssdk.auth.credentials.WebIdentityTokenFileCredentialsProvider",
    "org.apache.hadoop.fs.s3a.auth.IAMInstanceCredentialsProvider",
)


def s3_settings(access: S3Access) -> dict[str, str]:
    """What commits are safe by, and what has to be as delta-rs has it; nobody may set it otherwise.

    Credentials are found as delta-rs finds them: in the environment, or by the role of the process or the machine.
    """
    settings = {
        # No look at what is there before a file is made. Data files have names of their own, and what must not be
        # replaced is put on a condition, which the store holds.
        "spark.hadoop.fs.s3a.performance.flags": "create,mkdir",
        "spark.delta.logStore.s3a.impl": LOG_STORE,
        "spark.sql.streaming.checkpointFileManagerClass": FILE_MANAGER,
        "spark.hadoop.fs.s3a.aws.credentials.provider": ",".join(_CREDENTIALS),
        "spark.hadoop.fs.s3a.endpoint.region": access.region,
    }
    if access.endpoint:
        settings |= {
            "spark.hadoop.fs.s3a.endpoint": access.endpoint,
            "spark.hadoop.fs.s3a.path.style.access": "true",
            "spark.hadoop.fs.s3a.connection.ssl.enabled": str(access.is_encrypted).lower(),
        }
    return settings
