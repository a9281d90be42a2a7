"""Records the filters of queries while they run, at low cost."""

import logging
import re
from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass
from urllib.parse import unquote, urlparse

from py4j.protocol import Py4JError
from pyspark.errors.exceptions.captured import CapturedException
from pyspark.sql import DataFrame

from tidemark.delta.internals.query_plan import FileScan, file_scans
from tidemark.state_store.errors import StateStoreDownError
from tidemark.state_store.scan_counts import ScanCounts

_LOGGER = logging.getLogger(__name__)


class UsageRecorder:
    """The recorder of a process. It analyses each distinct query once, and counts every run.

    Spark plans a query again for every write, and planning takes as long as computing a small slice. So queries that
    differ only in bound values are analysed once.
    """

    def __init__(self, counts: ScanCounts) -> None:
        self._counts = counts
        self._known: dict[Hashable, list[ScanUsage]] = {}

    def ran(self, query: Hashable, frame: DataFrame, times: int = 1) -> None:
        """Count `times` runs of `frame` and similar frames; `query` is equal for frames with the same filters."""
        try:
            if query not in self._known:
                self._known[query] = usages_of(frame)
            scans = Counter[tuple[str, frozenset[str]]]()
            for usage in self._known[query]:
                scans[usage.table, usage.columns] += times
            self._counts.add(scans)
        except (StateStoreDownError, Py4JError, CapturedException) as problem:
            # The rows are written; a failure to record filters must not fail the run.
            _LOGGER.warning("filters are not recorded: %s", problem)


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
