"""What capture's errors tell of those of others."""

from __future__ import annotations

from tidemark.capture.errors import UnexpectedTableError

FROM_JAVA = """\
An error occurred while calling o1721.writeFiles.
: org.apache.spark.SparkException: [TASK_WRITE_FAILED] Task failed while writing rows
\tat org.apache.spark.sql.errors.QueryExecutionErrors$.taskFailedWhileWritingRowsError
Caused by: java.nio.file.AccessDeniedException: s3a://lake/warehouse/ods_orders: NoAuthWithAWSException
\t... 17 more
Caused by: org.apache.hadoop.fs.s3a.auth.NoAuthWithAWSException: No AWS Credentials provided
\tat org.apache.hadoop.fs.s3a.AWSCredentialProviderList.resolveCredentials
"""


def test_the_cause_of_a_failed_job_is_shown() -> None:
    """Executors without credentials: the call's name alone would say nothing of them."""
    error = UnexpectedTableError.of("ods_orders", RuntimeError(FROM_JAVA))
    assert error.found == (
        "RuntimeError: An error occurred while calling o1721.writeFiles. "
        "Caused by: org.apache.hadoop.fs.s3a.auth.NoAuthWithAWSException: No AWS Credentials provided"
    )


def test_an_error_without_a_word_is_its_name() -> None:
    assert UnexpectedTableError.of("ods_orders", KeyError()).found == "KeyError: "
