"""What Delta itself makes of two schemas: the authority for our judgement of a table's columns."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql.types import StructType

from tidemark.spark.internals import Jvm

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def by_delta(spark: SparkSession, table: StructType, incoming: StructType) -> StructType | None:
    """The schema that Delta itself merges; None where it refuses."""
    jvm = Jvm(spark)
    utils = jvm.scala_object("org.apache.spark.sql.delta.schema.SchemaMergingUtils")
    parse = jvm.scala_object("org.apache.spark.sql.types.DataType").fromJson
    never = jvm.scala_object("org.apache.spark.sql.delta.TypeWideningMode$NoTypeWidening")
    there, new = (parse(schema.json()) for schema in (table, incoming))
    try:
        merged = utils.mergeSchemas(there, new, False, False, never, False)  # noqa: FBT003 - Scala's flags
    except (Py4JJavaError, PySparkException):
        return None
    return StructType.fromJson(json.loads(merged.json()))
