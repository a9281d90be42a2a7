"""What PySpark does at its first exception is done before there are threads; names in the JVM are looked up once."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
from py4j.protocol import CALL_COMMAND_NAME, REFLECTION_COMMAND_NAME
from pyspark.errors import AnalysisException
from pyspark.logger import PySparkLogger
from pyspark.sql import functions as sf

from tidemark.spark.internals import Jvm, make_exception_loggers

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession

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


@pytest.mark.spark
def test_names_of_the_jvm_are_looked_up_once(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    def columns() -> list[Column]:
        return [sf.coalesce(sf.col("a"), sf.lit(number)) for number in (1, 2)]

    before = [str(column) for column in columns()]
    client, sent = Jvm(spark).view._gateway_client, list[str]()
    send = client.send_command

    def noting(command: str, *more: object, **named: object) -> object:
        sent.append(command)
        return send(command, *more, **named)

    monkeypatch.setattr(client, "send_command", noting)
    assert [str(column) for column in columns()] == before
    assert [command for command in sent if command.startswith(REFLECTION_COMMAND_NAME)] == []
    assert [command for command in sent if command.startswith(CALL_COMMAND_NAME)] != []


@pytest.mark.spark
def test_a_method_with_a_cached_name_is_called_each_time(spark: SparkSession) -> None:
    jvm = Jvm(spark)
    first, second = (jvm("java.util.ArrayList")() for _ in range(2))
    first.add(1)
    assert (first.size(), second.size()) == (1, 0)
    texts = [jvm("java.lang.String").valueOf(value) for value in (True, 7, 1.5)]
    assert texts == ["true", "7", "1.5"], "each by the method for its type"
