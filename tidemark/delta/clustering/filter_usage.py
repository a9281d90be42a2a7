"""The columns that queries filter by, from Spark's plans."""

import re
from dataclasses import dataclass
from urllib.parse import unquote, urlparse

from pyspark.sql import DataFrame

from tidemark.delta.internals.query_plan import FileScan, file_scans

# Conditions whose bounds can exclude a file, as Spark prints them for data sources.
_SKIPPING = ("EqualTo", "EqualNullSafe", "In", "GreaterThan", "GreaterThanOrEqual", "LessThan", "LessThanOrEqual")
_CONDITION = re.compile(rf"\b(?:{'|'.join((*_SKIPPING, 'StringStartsWith'))})\((`(?:[^`]|``)+`|[^,()]+),")


@dataclass(frozen=True)
class ScanUsage:
    """A scan of a table in a query, with the columns whose filters can skip files."""

    table: str
    columns: frozenset[str]


def usages_of(frame: DataFrame) -> list[ScanUsage]:
    """The scans of a query, from its physical plan; the query does not run."""
    return [usage for scan in file_scans(frame) if (usage := _usage(scan)) is not None]


def _usage(scan: FileScan) -> ScanUsage | None:
    location = re.search(r"\[(?P<uri>[^\],]+)", scan.location)
    columns = frozenset(name.strip("`") for name in _CONDITION.findall(scan.pushed_filters))
    return ScanUsage(_location(location["uri"]), columns) if location else None


def _location(uri: str) -> str:
    """A table's location in our form: a path, or the URI of an object store."""
    parsed = urlparse(uri)
    return (unquote(parsed.path) if parsed.scheme in {"", "file"} else unquote(uri)).rstrip("/")
