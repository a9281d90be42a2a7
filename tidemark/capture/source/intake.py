"""Where records come from: one interface over landed files and Kafka topics, so that the same code takes them in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pyspark.sql import SparkSession

from tidemark.capture.source.scan import Scan
from tidemark.capture.source_table import SourceTable
from tidemark.system.errors import CaptureError


class ReadUnit(Protocol):
    """Some consecutive records of one instance's topic: a file, or a range of offsets. Equal units hold the same."""

    @property
    def instance(self) -> str: ...

    @property
    def first_offset(self) -> int: ...

    @property
    def records(self) -> int:
        """About how many."""
        ...


@dataclass(frozen=True)
class Due:
    """What one pass reads, whether there is more behind it, and per instance why nothing of it can be read.

    `topic_ids` are those of the instances' topics where they have any: one that was made anew has another.
    """

    units: Sequence[ReadUnit] = ()
    more: bool = False
    problems: Mapping[str, CaptureError] = field(default_factory=dict)
    topic_ids: Mapping[str, str] = field(default_factory=dict)


class Intake(Protocol):
    """A place that keeps records in the order of each instance's binlog, and gives the same ones again when asked."""

    def due(self, next_offsets: Mapping[str, int], refused: Mapping[str, int], scale: float) -> Due:
        """The next units from `next_offsets` (per instance) on, as much as one pass takes, times `scale`.

        Nothing is read from an instance's offset in `refused` on.
        """
        ...

    def scan(self, spark: SparkSession, due: Due, tables: Sequence[SourceTable], reached: Mapping[str, int]) -> Scan:
        """Read and check the units; `reached` are the next offsets. Raises ChangeFileError for an unusable file."""
        ...
