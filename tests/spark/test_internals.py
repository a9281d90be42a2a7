"""What PySpark does at its first exception is done before there are threads."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import AnalysisException
from pyspark.logger import PySparkLogger

from tidemark.spark.internals import make_exception_loggers

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAMES = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")


def test_the_loggers_of_exceptions_have_pysparks_class(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        monkeypatch.delitem(logging.Logger.manager.loggerDict, name, raising=False)
    make_exception_loggers()
    assert [type(logging.getLogger(name)) for name in NAMES] == [PySparkLogger, PySparkLogger]
    assert logging.getLoggerClass() is logging.Logger


@pytest.mark.spark
def test_a_session_starts_with_them(spark: SparkSession) -> None:
    assert [type(logging.Logger.manager.loggerDict.get(name)) for name in NAMES] == [PySparkLogger, PySparkLogger]

    def failing(_number: int) -> None:
        with pytest.raises(AnalysisException, match="TABLE_OR_VIEW_NOT_FOUND"):
            spark.sql("SELECT 1 FROM no_table")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(failing, range(32)))
