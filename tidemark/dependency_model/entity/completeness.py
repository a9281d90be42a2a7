"""The count of a table's records: its time column, and the source to compare it with (seed capability C4)."""

from datetime import timedelta
from typing import Annotated

from pydantic import Field, StringConstraints, model_validator
from pydantic.dataclasses import dataclass

from tidemark.dependency_model.entity.field_types import STRICT, ColumnField, DurationField, TimeZoneField
from tidemark.dependency_model.entity.probe import ConnectionText, KafkaProbe


@dataclass(frozen=True, slots=True, config=STRICT)
class CountQuery:
    """A table, or one physical table of a sharded table, in the source's database."""

    url: ConnectionText
    table: Annotated[str, StringConstraints(min_length=1, max_length=256)]


@dataclass(frozen=True, slots=True, config=STRICT)
class Completeness:
    """`time_column` has the time that a row is counted at, in the source and in the lake; it must never change.

    Times without a zone are in `time_zone` (default: UTC). The source is `sql` (the sum of its tables), a `kafka` topic
    (by offsets of record timestamps), or the `capture` of a captured table. `capture` counts the rows that changes add
    and remove before they are merged. The count of a minute is final `settle_for` after its end. It is repeated for
    `recount_for`, because records may be late.
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
