"""The interface of intakes, which landed files and Kafka topics share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pyspark.sql import SparkSession

from tidemark.capture.source.scan import Scan
from tidemark.capture.source_table import SourceTable
from tidemark.system.errors import CaptureError


class ReadUnit(Protocol):
    """Consecutive records of one instance's topic: a file or a range of offsets. Equal units hold the same records."""

    @property
    def instance(self) -> str: ...

    @property
    def first_offset(self) -> int: ...

    @property
    def records(self) -> int:
        """The estimated number of records."""
        ...


@dataclass(frozen=True)
class Due:
    """The units of one pass, whether more follow, and the problem of each instance that cannot be read.

    `topic_ids` are the ids of the instances' topics, if known. A topic that was deleted and created again has another
    id.
    """

    units: Sequence[ReadUnit] = ()
    more: bool = False
    problems: Mapping[str, CaptureError] = field(default_factory=dict)
    topic_ids: Mapping[str, str] = field(default_factory=dict)


class Intake(Protocol):
    """A store of records in the order of each instance's binlog, which can be read again."""

    def due(self, next_offsets: Mapping[str, int], refused: Mapping[str, int], scale: float) -> Due:
        """The next units from `next_offsets` (by instance) on: a pass's amount times `scale`.

        From an instance's offset in `refused` on, nothing is read.
        """
        ...

    def scan(self, spark: SparkSession, due: Due, tables: Sequence[SourceTable], reached: Mapping[str, int]) -> Scan:
        """Read and check the units; `reached` are the next offsets. Raises ChangeFileError for an unusable file."""
        ...
