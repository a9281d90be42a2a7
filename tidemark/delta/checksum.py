"""A table's content as one number, the same that the source database computes from its own rows."""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf


def content_checksum(rows: DataFrame, columns: Sequence[str], shard: str = "_shard") -> tuple[int, str]:
    """(row count, checksum): the sum over all rows of the first 60 bits of MD5 of the row's text, as a decimal.

    The text is shard and `columns` joined with `|`, NULL as backslash N, dates and times in MariaDB's text form without
    fraction (instants in UTC, the session's zone). 0 rows have the checksum "0". One Spark job.
    """
    kinds = dict(rows.dtypes)
    texts = [sf.coalesce(_text(name, kinds[name]), sf.lit("\\N")) for name in (shard, *columns)]
    digest = sf.substring(sf.md5(sf.concat_ws("|", *texts)), 1, 15)
    number = sf.conv(digest, 16, 10).cast("decimal(38,0)")
    row = rows.agg(sf.count("*").alias("rows"), sf.coalesce(sf.sum(number), sf.lit(0)).alias("checksum")).first()
    if row is None:
        raise AssertionError("an aggregate without groups has one row")
    return int(row["rows"]), str(row["checksum"])


def _text(name: str, kind: str) -> Column:
    if kind.startswith("timestamp"):
        return sf.date_format(name, "yyyy-MM-dd HH:mm:ss")
    return sf.col(name).cast("string")
