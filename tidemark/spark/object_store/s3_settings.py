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
    """Settings for safe commits and for the same access as delta-rs. Users cannot change them.

    Credentials are found as in delta-rs: in the environment, or by the role of the process or the machine.
    """
    settings = {
        # Create files without a check for existing ones. Data files have unique names. Files that must not be replaced
        # are put with a condition, which the store enforces.
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
