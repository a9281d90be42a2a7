"""Runs texts of `tidemark engines --for iceberg-spark` in a Spark that has Iceberg's runtime and no Delta.

`python spark_reader.py JAR LAKE TEXTS_FILE FOLDER` writes the rows of each text, by its number in a JSON list.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pyspark.sql import SparkSession

if __name__ == "__main__":
    jar, lake, texts, folder = sys.argv[1:]
    catalog = "spark.sql.catalog.iceberg"
    settings = {
        catalog: "org.apache.iceberg.spark.SparkCatalog",
        f"{catalog}.type": "hadoop",
        f"{catalog}.warehouse": lake,
        "spark.jars": jar,
        "spark.ui.enabled": "false",
        "spark.driver.memory": "1g",
        "spark.sql.session.timeZone": "UTC",
    }
    builder = SparkSession.builder.master("local[1]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    for number, text in enumerate(json.loads(Path(texts).read_text(encoding="utf-8"))):
        rows = spark.sql(text.rstrip(";\n")).coalesce(1)
        rows.write.option("compression", "none").parquet(f"{folder}/{number}")
    spark.stop()
