"""Recording what queries filter by while they are run, at next to no cost."""

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
    """One a process: a query is planned once to be read, and counted each time that it is run.

    Spark plans a query anew for every write, and planning takes as long as computing a small slice: queries that differ
    in bound values alone are read once.
    """

    def __init__(self, counts: ScanCounts) -> None:
        self._counts = counts
        self._known: dict[Hashable, list[ScanUsage]] = {}

    def ran(self, query: Hashable, frame: DataFrame, times: int = 1) -> None:
        """`frame` was run, and others like it, `times` in all; `query` is equal for frames that filter alike."""
        try:
            if query not in self._known:
                self._known[query] = usages_of(frame)
            scans = Counter[tuple[str, frozenset[str]]]()
            for usage in self._known[query]:
                scans[usage.table, usage.columns] += times
            self._counts.add(scans)
        except (StateStoreDownError, Py4JError, CapturedException) as problem:
            # The rows are written: advice is not worth failing for.
            _LOGGER.warning("filters are not recorded: %s", problem)
