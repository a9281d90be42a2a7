"""Types that a table has to declare as features before it can have them."""

from collections.abc import Iterable

from pyspark.sql import SparkSession
from pyspark.sql.types import DataType

from tidemark.delta.file_statistics import file_statistics
from tidemark.delta.schema_evolution import leaf_types
from tidemark.quoting.spark import path_table, text_literal
from tidemark.system.table_location import TableLocation

_FEATURE_OF = {"TIMESTAMP_NTZ": "timestampNtz"}


def allow_types(spark: SparkSession, path: TableLocation, kinds: Iterable[str]) -> bool:
    """Declare the features for columns of Spark SQL types `kinds`, if they are missing; True if that took a commit.

    A new table declares the features of its first columns itself. For later columns they must be added. Raises
    NotADeltaTableError.
    """
    needed = {_FEATURE_OF[kind] for kind in kinds if kind in _FEATURE_OF}
    missing = sorted(needed - file_statistics(path).features) if needed else []
    if missing:
        named = ", ".join(f"{text_literal(f'delta.feature.{feature}')} = 'supported'" for feature in missing)
        spark.sql(f"ALTER TABLE {path_table(path)} SET TBLPROPERTIES ({named})")
    return bool(missing)


def sql_kinds(kind: DataType) -> set[str]:
    """Spark SQL's names of the types that a type consists of."""
    return {leaf.simpleString().upper() for leaf in leaf_types(kind)}
