"""What one pass over records found: cached, and summed up for the planner, wherever the records come from."""

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame

from tidemark.capture.source.scan_summary import Summary
from tidemark.system.errors import CaptureError


@dataclass(frozen=True)
class Scan:
    """What was read. `view` is a global temporary view over the cached records (columns: `change_record.py`).

    `ends` are per instance one past the last readable offset, `repeated` whether some record is there twice, `gaps`
    the first hole found per instance. `place` says in words where a record (instance, offset) is, `with_text` whether
    some images' values may be text as the server prints it. `poison` is the number of records that are none and go to
    the dead-letter queue, as values that fit no type do; None where the source is corrected instead.
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
        """Forget the cached records."""
        self.records.unpersist()
        self.records.sparkSession.catalog.dropGlobalTempView(self.view)


def open_scan(records: DataFrame, scan: Callable[[str, DataFrame], Scan]) -> Scan:
    """Cache `records` under a view of their own, and let `scan` sum them up; nothing stays behind when it raises."""
    cached = records.persist()
    view = f"scan_{uuid.uuid4().hex}"
    cached.createOrReplaceGlobalTempView(view)
    try:
        return scan(view, cached)
    except Exception:
        # What stays cached would be read again in place of the corrected file: it has the same path.
        cached.unpersist()
        cached.sparkSession.catalog.dropGlobalTempView(view)
        raise
