"""The metadata of a commit, and the session settings that make Spark's writers store it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tidemark.spark.temporary_settings import settings
from tidemark.strict_json import json_text

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from pyspark.sql import SparkSession

LAST_VERSION = "spark.databricks.delta.lastCommitVersionInSession"
USER_METADATA = "spark.databricks.delta.commitInfo.userMetadata"
TXN_APP_ID = "spark.databricks.delta.write.txnAppId"
TXN_VERSION = "spark.databricks.delta.write.txnVersion"


IDENTITY: Final = "identity"
"""The key of a commit's metadata with the identity of its transaction."""


@dataclass(frozen=True)
class Transaction:
    """The identity of a commit; the same (app, number) is applied only once.

    With an `identity`, which its `metadata` also has, it follows number - 1 (transaction_chain).
    """

    app: str
    number: int
    metadata: str
    identity: str = ""

    def metadata_with(self, **more: object) -> str:
        """`metadata` with more entries if it is a JSON object or empty; any other text is unchanged."""
        try:
            entries = json.loads(self.metadata or "{}")
        except json.JSONDecodeError:
            return self.metadata
        return json_text({**entries, **more}) if isinstance(entries, dict) else self.metadata


def commit_with(spark: SparkSession, transaction: Transaction, action: Callable[[], object]) -> int:
    """Run a Delta write that always commits, under `transaction`, and return the version.

    The session must be the thread's own, because commit metadata is a session setting.
    """
    write_with(spark, transaction, action)
    return int(str(spark.conf.get(LAST_VERSION)))


def write_with(spark: SparkSession, transaction: Transaction, action: Callable[[], object]) -> None:
    """Run a Delta write under `transaction`. A write that touches no row (DELETE, UPDATE) commits nothing.

    The session must be the thread's own. Its last committed version proves nothing, because there may have been no
    commit.
    """
    told = {
        USER_METADATA: transaction.metadata,
        TXN_APP_ID: transaction.app,
        TXN_VERSION: str(transaction.number),
    }
    with settings(spark, told):
        action()


def user_metadata(spark: SparkSession, metadata: str) -> AbstractContextManager[None]:
    """Commits of the block carry `metadata`, or none if it is empty."""
    return settings(spark, {USER_METADATA: metadata} if metadata else {})
