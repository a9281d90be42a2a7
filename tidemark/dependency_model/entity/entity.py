"""An entity as it is declared: a table, an external data set, a project or a report."""

import re
from dataclasses import fields
from datetime import timedelta
from enum import Enum
from functools import lru_cache
from operator import attrgetter
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints, model_validator
from pydantic.dataclasses import dataclass

from tidemark.dependency_model.entity.completeness import Completeness
from tidemark.dependency_model.entity.dependency import COMPLETED, AtLeastField, Dependency, DependencyField
from tidemark.dependency_model.entity.field_types import (
    LOG_CHANNEL,
    STRICT,
    ChannelField,
    ColumnField,
    CronField,
    DurationField,
    HolidaysField,
    NameField,
    PartitionColumnsField,
    PeriodField,
    ReplicaField,
    StartField,
    TagsField,
    TaskIdField,
    TimeOfDayField,
    TimeZoneField,
)
from tidemark.dependency_model.entity.probe import Probe
from tidemark.dependency_model.entity.profile_settings import Anomalies, ProfileField, ProfileSettings
from tidemark.dependency_model.entity.quality_rules import QualityField
from tidemark.dependency_model.entity.refresh import Refresh
from tidemark.dependency_model.entity.sub_partition import SubPartitionsField
from tidemark.dependency_model.time.local_calendar import Calendar
from tidemark.dependency_model.time.partition_columns import PartitionColumn, time_columns


class EntityKind(Enum):
    """The relation of an entity's data to time (seed capability D6)."""

    TIME_SERIES = "TimeSeries"
    SLIDING = "Sliding"
    SNAPSHOT = "Snapshot"
    STATIC = "Static"
    CUMULATIVE = "Cumulative"
    VIRTUAL = "Virtual"
    PROJECT = "Project"
    VIEW = "View"


class Reprocess(Enum):
    """Whether a slice is computed again after one of its inputs was."""

    ALWAYS = "always"
    IF_CHANGED = "if_changed"
    NEVER = "never"
    ASK = "ask"


class LateEvents(Enum):
    """The handling of changes that arrive after the snapshot of their time was tagged (seed capability B2)."""

    NEXT_SNAPSHOT = "next_snapshot"
    RESTATE = "restate"


@dataclass(frozen=True, slots=True, config=STRICT)
class EntityState:
    """A state that slices of an entity reach, and its dependencies."""

    entity_state: NameField
    depends_on: tuple[DependencyField, ...] = ()


_TABLES = re.compile(r"\w+\.\w+?(\*|\{(?P<first>\d{1,4})\.\.(?P<last>\d{1,4})\})?")


def _physical_tables(name: str) -> str:
    match = _TABLES.fullmatch(name)
    if match is None or int(match["first"] or 0) > int(match["last"] or 0):
        raise ValueError(
            "expected DATABASE.TABLE, or its shards by the number at the end of their names: shop.orders_*, "
            "shop.orders_{0..31}, shop.orders_{00..31} (two digits), shop.sbtest{1..8}; shards in several databases "
            "are several entities"
        )
    return name


@dataclass(frozen=True, slots=True, config=STRICT)
class CapturedColumns:
    """The captured columns of the source's tables: all except `exclude`, by their names in the source."""

    exclude: tuple[Annotated[str, StringConstraints(min_length=1, max_length=64)], ...] = ()


@dataclass(frozen=True, slots=True, config=STRICT)
class CapturedSource:
    """The physical tables of an ODS entity in these instances: a name, or one with `*` or `{0..31}` for shards.

    The first capture starts at the `earliest` record of the topics, with an initial load (`now`), or at a given offset
    of each instance's topic. A table without changes for `idle_after` is idle. An instance without heartbeats for
    `broken_after` is broken.
    """

    table: Annotated[str, AfterValidator(_physical_tables)]
    instances: Annotated[tuple[NameField, ...], Field(min_length=1)]
    columns: CapturedColumns = CapturedColumns()
    start: Literal["earliest", "now"] | dict[str, Annotated[int, Field(ge=0)]] = "earliest"
    idle_after: DurationField = timedelta(minutes=10)
    broken_after: DurationField = timedelta(minutes=5)

    @model_validator(mode="after")
    def _check_start(self) -> "CapturedSource":
        if isinstance(self.start, dict) and {*self.start} != {*self.instances}:
            raise ValueError(f"start needs an offset of each instance: {', '.join(self.instances)}")
        return self


@dataclass(frozen=True, slots=True, config=STRICT)
class Entity:
    """The declaration of an entity with its defaults. `layer` is the name of its folder, `file` its file.

    `computed`: a query or function computes it. `rule_inputs` are tables that only its quality rules read: slices wait
    for them, but rows do not depend on them. `own_asset`: an asset in the project's own code computes it when the
    center launches it.

    The first slice contains `start`. The last one ends at or before `end`, if the entity has an end.

    `holidays` names the calendar of workdays: a country (`FR`), a region (`FR-57`), a market (`XNYS`), or `weekdays`.

    A slice is promised by `ready_by`. A predicted finish within `alert_margin` before it is a risk. `priority` shows
    people how important the promise is. `notify` has the channels for alerts about its slices.

    `completeness` counts records at the source and in the lake; `probe: {counts: ..}` of other entities waits for these
    counts. Each computed slice has a `profile`, which is compared with earlier ones. A snapshot is a whole table and is
    profiled only if the declaration names columns. After an anomaly the rules of `quality_on_anomaly` run too, and
    `anomalies` says whether the anomaly alone blocks the slice.

    Entities of one `series` hold the same data by different periods: faults of a slice also affect the others' slices.
    A `quorum` of sub-partitions completes a business time for readers that depend on all of them.

    `partition_columns` hold the slice of a row, by default `dt`, `hour` and `minute`. `columns` are the names of the
    other columns, if they are declared and no query here computes the table. Files are clustered by `cluster_by`, the
    columns that filters use most.

    For captured entities, `late_events` says whether late changes are only in the next snapshot, or restate the
    snapshots of their time. A snapshot is tagged `allowed_lateness` after its end. The newest `keep_snapshots`
    snapshots keep their tags, by default all.

    `center` is the center that computes it; in other centers it is a replica. Without it, each center computes it.
    `replicate` has the places that slices are copied to. `refresh` has the objects in other systems that are made from
    slices. Tidemark writes the metadata of each format in `read_by` for the table's files.
    """

    name: NameField
    period: PeriodField | None = None
    kind: EntityKind = EntityKind.TIME_SERIES
    description: str = ""
    granularity: PeriodField | None = None
    start: StartField | None = None
    end: StartField | None = None
    time_zone: TimeZoneField = "UTC"
    week_start: str = "monday"
    holidays: HolidaysField = ""
    tags: TagsField = Field(default_factory=dict)
    owner: str = ""
    states: tuple[EntityState, ...] = ()
    sub_partitions: SubPartitionsField = Field(default_factory=dict)
    quorum: AtLeastField | None = None
    partition_columns: PartitionColumnsField = ()
    columns: tuple[ColumnField, ...] = ()
    quality: tuple[QualityField, ...] = ()
    profile: ProfileField = None
    anomalies: Anomalies = Anomalies.WARN
    quality_on_anomaly: tuple[QualityField, ...] = ()
    probe: Probe | None = None
    completeness: Completeness | None = None
    ready_by: TimeOfDayField | None = None
    notify: tuple[ChannelField, ...] = (LOG_CHANNEL,)
    priority: Annotated[int, Field(ge=1, le=9)] = 5
    alert_margin: DurationField = timedelta(0)
    earliest: CronField | None = None
    reprocess: Reprocess = Reprocess.ALWAYS
    project: NameField | None = None
    task_id: TaskIdField | None = None
    source: CapturedSource | None = None
    key: tuple[ColumnField, ...] = ()
    partition_by: ColumnField | None = None
    cluster_by: Annotated[tuple[ColumnField, ...], Field(max_length=4)] = ()
    snapshot_of: NameField | None = None
    late_events: LateEvents = LateEvents.NEXT_SNAPSHOT
    allowed_lateness: DurationField = timedelta(0)
    keep_snapshots: Annotated[int, Field(ge=1)] | None = None
    series: NameField | None = None
    export: bool = False
    center: ReplicaField | None = None
    replicate: tuple[ReplicaField, ...] = ()
    read_by: tuple[Literal["iceberg"], ...] = ()
    refresh: Annotated[tuple[Refresh, ...], Field(max_length=100)] = ()
    own_asset: bool = False
    layer: str = ""
    file: str = ""
    computed: bool = False
    rule_inputs: frozenset[str] = frozenset()

    @property
    def calendar(self) -> Calendar:
        """The local clock that its slices follow."""
        return _calendar(self.time_zone, self.week_start, self.holidays)

    @property
    def times(self) -> tuple[PartitionColumn, ...]:
        """The columns that hold the time of a row's slice."""
        return time_columns(self.period, self.partition_columns)

    @property
    def is_static(self) -> bool:
        """Whether it has no period, and so a single slice."""
        return self.period is None

    @property
    def is_promised(self) -> bool:
        """Whether its slices have a promised time (`ready_by`)."""
        return self.ready_by is not None and not self.is_static

    @property
    def is_project(self) -> bool:
        """Whether it is a project: a group of entities with a root and an end."""
        return self.kind is EntityKind.PROJECT

    @property
    def has_blocking_rules(self) -> bool:
        """Whether rows can be refused: by a blocking rule, or by an anomaly of the profile."""
        deeper = any(rule.severity == "block" for rule in self.quality_on_anomaly)
        by_profile = self.profiled is not None and (deeper or self.anomalies is Anomalies.BLOCK)
        return by_profile or any(rule.severity == "block" for rule in self.quality)

    @property
    def profiled(self) -> ProfileSettings | None:
        """The profile's settings; None if its slices are not profiled."""
        is_whole_table = self.source is not None or self.snapshot_of is not None
        wanted = self.profile or (None if is_whole_table else ProfileSettings())
        return None if wanted is None or wanted.is_off else wanted

    @property
    def depends_on(self) -> tuple[Dependency, ...]:
        """The dependencies of the completed state."""
        return self.dependencies(COMPLETED)

    def dependencies(self, state: str) -> tuple[Dependency, ...]:
        """The dependencies of a state; empty if the entity does not have the state."""
        return next((declared.depends_on for declared in self.states if declared.entity_state == state), ())

    def with_states(self, states: tuple[EntityState, ...]) -> "Entity":
        """A copy with other states.

        `replace` would validate all values again, at each start and for thousands of entities.
        """
        copied = object.__new__(Entity)
        for name, value in zip(_FIELDS, _values_of(self), strict=True):
            object.__setattr__(copied, name, value)
        object.__setattr__(copied, "states", states)
        return copied

    @property
    def state_names(self) -> tuple[str, ...]:
        """The states that its slices reach, as declared."""
        return tuple(state.entity_state for state in self.states)


_FIELDS = tuple(field.name for field in fields(Entity))
_values_of = attrgetter(*_FIELDS)


@lru_cache(maxsize=1024)
def _calendar(time_zone: str, week_start: str, holidays: str) -> Calendar:
    return Calendar(time_zone, week_start, holidays)
