"""`python -m tidemark.spark.write_class_archive`: archives the JVM's loaded classes for all later sessions.

It is part of the set-up and takes a minute of CPU once for each Java and set of jars. Without it sessions only start
slower.
"""

import sys
import tempfile
from pathlib import Path

from delta.tables import DeltaTable
from pyspark.sql import SparkSession

from tidemark.spark.class_archive import QUIET, class_archive
from tidemark.spark.internals import end_jvm
from tidemark.spark.session import java_options, spark_session
from tidemark.system.settings import Settings

# Java writes the archive when the JVM ends: 15 CPU seconds, on a possibly busy machine.
_WRITE_SECONDS = 300


def write_class_archive(target: Path) -> bool:
    """Archive in `target` the classes of a session after typical work; False if this Java writes no archive.

    The file appears by one rename, complete or not at all. Ends the process's session. Raises JavaMissingError,
    JarsError, SparkStartError.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".classes-") as work:
        written = Path(work) / target.name
        settings = Settings.at(Path(work) / "data")
        options = " ".join([*java_options(settings), f"-XX:ArchiveClassesAtExit={written}", *QUIET])
        session = spark_session(settings, {"spark.driver.extraJavaOptions": options})
        _load_classes(session, f"{work}/table")
        session.stop()
        end_jvm(_WRITE_SECONDS)
        if written.is_file():
            written.rename(target)
    return target.is_file()


def _load_classes(spark: SparkSession, table: str) -> None:
    """Write, merge, partly replace, clean and read a table, in SQL and from Python."""
    rows = spark.sql(
        "SELECT id, id * 2 AS amount, concat('n', id) AS name, DATE'2026-03-23' AS day,"
        " TIMESTAMP'2026-03-23 10:00:00' AS at, CAST(id AS DECIMAL(12, 2)) AS price FROM range(100)"
    )
    rows.write.format("delta").partitionBy("day").save(table)
    lake = DeltaTable.forPath(spark, table)
    changes = rows.where("id < 50").union(rows.selectExpr("id + 100", "amount", "name", "day", "at", "price"))
    merge = lake.alias("t").merge(changes.alias("s"), "t.id = s.id")
    merge.whenMatchedDelete("s.id = 7").whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()
    lake.delete("id = 9")
    rows.write.format("delta").mode("overwrite").option("replaceWhere", "day = DATE'2026-03-23'").save(table)
    lake.optimize().executeZOrderBy("id")
    lake.history(1).collect()
    spark.read.format("delta").load(table).createOrReplaceTempView("loaded_rows")
    spark.sql(
        "WITH totals AS (SELECT day, name, sum(price) AS total, count(*) AS orders FROM loaded_rows GROUP BY day, name)"
        " SELECT t.day, t.total, row_number() OVER (PARTITION BY t.day ORDER BY total DESC) AS place,"
        " date_format(r.at, 'HH') AS hour, from_json('{\"a\": 1}', 'a INT').a AS a"
        " FROM totals t LEFT JOIN loaded_rows r ON r.name = t.name"
    ).toPandas()
    spark.createDataFrame([(1, "a")], "id INT, name STRING").collect()


def main() -> None:
    archive = class_archive()
    if archive.is_file() or write_class_archive(archive):
        sys.stdout.write(f"classes of Spark's JVM in {archive}\n")
    else:
        sys.stdout.write("this Java does not support class archives: Spark sessions start some seconds slower\n")


if __name__ == "__main__":
    main()
