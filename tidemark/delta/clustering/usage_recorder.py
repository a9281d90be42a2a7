"""Records the filters of queries while they run, at low cost."""

import logging
from collections import Counter
from collections.abc import Hashable

from py4j.protocol import Py4JError
from pyspark.errors.exceptions.captured import CapturedException
from pyspark.sql import DataFrame

from tidemark.delta.clustering.filter_usage import ScanUsage, usages_of
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
