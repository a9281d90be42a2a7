"""The records of one pass, cached and summarized for the planner, from files or Kafka."""

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame

from tidemark.capture.source.scan_summary import Summary
from tidemark.system.errors import CaptureError


@dataclass(frozen=True)
class Scan:
    """The records of one pass. `view` is a global temporary view of them (columns: `change_record.py`).

    `ends` is one past the last readable offset of each instance. `repeated`: some record is there twice. `gaps` has the
    first gap of each instance. `place` gives a record's place (instance, offset) as text. `with_text`: some images may
    have printed values. `poison` is the number of invalid records; they and unfit values go to the dead-letter queue.
    It is None if the source is to be corrected instead.
    """

    view: str
    records: DataFrame
    summary: Summary
    ends: Mapping[str, int]
    repeated: bool
    gaps: Mapping[str, CaptureError]
    place: Callable[[str, int], str]
    with_text: bool = False
    poison: int | None = None

    def end_offset(self, instance: str, default: int) -> int:
        """One past the last readable offset."""
        return self.ends.get(instance, default)

    def close(self) -> None:
        """Release the cached records."""
        self.records.unpersist()
        self.records.sparkSession.catalog.dropGlobalTempView(self.view)


def open_scan(records: DataFrame, scan: Callable[[str, DataFrame], Scan]) -> Scan:
    """Cache `records` under a new view and call `scan` to summarize them. After an error both are released."""
    cached = records.persist()
    view = f"scan_{uuid.uuid4().hex}"
    cached.createOrReplaceGlobalTempView(view)
    try:
        return scan(view, cached)
    except Exception:
        # Cached records would be used again instead of the corrected file, which has the same path.
        cached.unpersist()
        cached.sparkSession.catalog.dropGlobalTempView(view)
        raise
