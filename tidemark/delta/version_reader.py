"""Versions of Delta tables as frames, each opened once.

A version never changes, but Spark builds its list of files from the log for every new frame. That takes half a CPU
second for the smallest table, more than its query. A frame keeps the list.
"""

from collections import OrderedDict

from pyspark.sql import DataFrame, SparkSession

from tidemark.delta.delta_rs_table import read_table
from tidemark.system.table_location import TableLocation

_KEPT = 64


class VersionReader:
    """The most recently read versions of one session. It is not thread-safe."""

    def __init__(self, session: SparkSession) -> None:
        self._session = session
        self._frames: OrderedDict[tuple[TableLocation, int], DataFrame] = OrderedDict()

    def read(self, path: TableLocation, version: int) -> DataFrame:
        """The table at `version`."""
        frame = self._frames.pop((path, version), None)
        if frame is None:
            frame = read_table(self._session, path, version)
        self._frames[path, version] = frame
        if len(self._frames) > _KEPT:
            self._frames.popitem(last=False)
        return frame
