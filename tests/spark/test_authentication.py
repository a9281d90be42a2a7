"""Every account of a machine reaches loopback: Spark's own messages are for those that have the session's secret."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def test_each_session_requires_a_separate_secret(spark: SparkSession) -> None:
    environment: Any = spark.sparkContext._jvm.org.apache.spark.SparkEnv.get()  # type: ignore[union-attr]
    assert environment.securityManager().isAuthenticationEnabled()
    assert len(environment.securityManager().getSecretKey()) >= 32
    assert spark.range(3).count() == 3
