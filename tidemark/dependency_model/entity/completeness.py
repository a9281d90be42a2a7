"""How the records of a table are counted: by which column, and at which source (seed capability C4)."""

from datetime import timedelta
from typing import Annotated

from pydantic import Field, StringConstraints, model_validator
from pydantic.dataclasses import dataclass

from tidemark.dependency_model.entity.field_types import STRICT, ColumnField, DurationField, TimeZoneField
from tidemark.dependency_model.entity.probe import ConnectionText, KafkaProbe


@dataclass(frozen=True, slots=True, config=STRICT)
class CountQuery:
    """A table of the source's database; a physical table of a sharded one."""

    url: ConnectionText
    table: Annotated[str, StringConstraints(min_length=1, max_length=256)]


@dataclass(frozen=True, slots=True, config=STRICT)
class Completeness:
    """`time_column` tells the minute of a row, at the source and in the lake; it never changes in a row.

    Where it has no zone it is read on the clock of `time_zone` (default: UTC). The source is `sql`, all of its
    tables together, or a `kafka` topic by its offsets, whose records carry that time; of a captured table it may be the
    `capture` itself, which counts the rows that its changes bring and take away before it merges them. A minute's count
    is final `settle_for` after it is over; for `recount_for` it is counted again, as records come late.
    """

    time_column: ColumnField
    time_zone: TimeZoneField | None = None
    sql: Annotated[tuple[CountQuery, ...], Field(max_length=256)] = ()
    kafka: KafkaProbe | None = None
    capture: bool = False
    settle_for: DurationField = timedelta(minutes=5)
    recount_for: DurationField = timedelta(hours=1)
    timeout_seconds: Annotated[int, Field(ge=1, le=600)] = 20

    @model_validator(mode="after")
    def _has_one_source(self) -> "Completeness":
        if [bool(self.sql), self.kafka is not None, self.capture].count(True) != 1:
            raise ValueError("expected exactly one of sql, kafka, capture: where the source's records are counted")
        return self
