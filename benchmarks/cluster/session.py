"""A Spark session as Spark comes: compiled queries and both compilers of the JVM, which large passes are worth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import SparkSession

from tidemark.spark.internals import start_context
from tidemark.spark.session import spark_conf
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path


def started(folder: Path) -> SparkSession:
    conf = spark_conf(Settings.at(folder), folder)
    options = conf.get("spark.driver.extraJavaOptions", "") or ""
    kept = [word for word in options.split() if not word.startswith(("-XX:TieredStopAtLevel", "-XX:ReservedCodeCache"))]
    conf.set("spark.driver.extraJavaOptions", " ".join(kept))
    conf.set("spark.driver.memory", "4g")
    conf.set("spark.sql.codegen.wholeStage", "true")
    conf.set("spark.sql.codegen.factoryMode", "FALLBACK")
    with (folder / "jvm.log").open("w") as stderr:
        start_context(conf, stderr)
    return SparkSession.builder.getOrCreate()
