"""Probes: how to check whether an external slice is there, one class for each kind of source (A5, C8).

A probe looks at exactly one slice: placeholders in its texts name the slice (`slice_text.py`), or the slice's window
bounds the rows that are read. A declaration contains no passwords: it names environment variables, such as
`${PARTNER_URL}`.
"""

import re
from collections.abc import Iterator
from datetime import timedelta
from fractions import Fraction
from typing import Annotated, Any, Final

from pydantic import AfterValidator, Field, StringConstraints, model_validator
from pydantic.dataclasses import dataclass

from tidemark.dependency_model.arrival.probe_interval import LONGEST
from tidemark.dependency_model.completeness.slot import LateCounts
from tidemark.dependency_model.entity.field_types import STRICT, ColumnField, DurationField, NameField, PeriodField
from tidemark.dependency_model.entity.slice_text import placeholders

_PASSWORD: Final = re.compile(r"://[^/@\s]*:(?!\$\{\w+\}@)[^/@\s]*@")
_SECRET_NAME: Final = re.compile(r"(?i)secret|password|passwd|token|authorization|cookie|key$|credential|signature")
_WILD: Final = frozenset("*?")
_VARIABLE: Final = re.compile(r"\$\{[A-Za-z_]\w*\}")


def _with_placeholders(text: str) -> str:
    placeholders(text)
    return text


def _with_last_pattern(path: str) -> str:
    if _WILD.intersection(path.rstrip("/").rpartition("/")[0]):
        raise ValueError("only the last part of a path can be a pattern: landing/{dt}/*.csv")
    return path


def _without_password(text: str) -> str:
    if _PASSWORD.search(text):
        raise ValueError("a password in a declaration: name an environment variable instead, as ${PARTNER_URL}")
    return text


def _without_secrets(settings: dict[str, str]) -> dict[str, str]:
    for name, value in settings.items():
        _without_password(value)
        if _SECRET_NAME.search(name) and not _VARIABLE.search(value):
            raise ValueError(f"'{name}' may be a secret: name an environment variable instead, as ${{PARTNER_TOKEN}}")
    return settings


_Text = Annotated[str, StringConstraints(min_length=1, max_length=2_000)]
SliceText = Annotated[_Text, AfterValidator(_with_placeholders)]
"""A text with placeholders for a slice: `dt={start:%Y-%m-%d}`."""
ConnectionText = Annotated[_Text, AfterValidator(_without_password)]
"""A text in which `${NAME}` is replaced by an environment variable."""
SecretSettings = Annotated[dict[NameField, str], AfterValidator(_without_secrets)]
Headers = Annotated[dict[Annotated[str, Field(pattern=r"^[A-Za-z0-9-]{1,64}$")], str], AfterValidator(_without_secrets)]
PartitionValues = dict[ColumnField, SliceText]
_AtLeast = Annotated[int, Field(ge=0)]


@dataclass(frozen=True, slots=True, config=STRICT)
class DeltaProbe:
    """A partition of a Delta table, from the log alone: it has a file, and statistics give the number of rows.

    With `time_column` the slice is the rows whose time is in its window; they are read and counted. With `watermark`
    the table must have a row of the window's end or later. With `replica_of` the table is a replica of another center's
    entity: a slice is there once it was published, in its latest generation.
    """

    table: Annotated[ConnectionText, AfterValidator(_with_placeholders)]
    partition: PartitionValues = Field(default_factory=dict)
    time_column: ColumnField | None = None
    watermark: ColumnField | None = None
    at_least: _AtLeast = 1
    replica_of: NameField | None = None
    options: SecretSettings = Field(default_factory=dict)


@dataclass(frozen=True, slots=True, config=STRICT)
class FilesProbe:
    """A directory or a prefix of an object store. It must have the `marker` and `at_least` other files.

    `path` may also be one file, or end with a pattern for files directly in the directory: `*.csv`. Names that begin
    with `_` or `.` are not data. A `_temporary` means that a writer is still active.

    `manifest` is a file that lists the others, one a line, with the size in bytes if known. All of them must be there
    with that size.
    """

    path: Annotated[SliceText, AfterValidator(_with_last_pattern)]
    marker: SliceText | None = None
    manifest: SliceText | None = None
    at_least: _AtLeast = 1


@dataclass(frozen=True, slots=True, config=STRICT)
class PartitionsProbe:
    """A partition of a table in Hive folders (`dt=2026-03-29/hour=03`): the folder must exist and have a file."""

    path: _Text
    partition: Annotated[PartitionValues, Field(min_length=1)]


@dataclass(frozen=True, slots=True, config=STRICT)
class SqlProbe:
    """At least `at_least` rows of a database table, in the partition and, by `time_column`, in the window.

    With `watermark` the table must have a row of the window's end or later.
    """

    url: ConnectionText
    table: Annotated[str, StringConstraints(min_length=1, max_length=256)]
    partition: PartitionValues = Field(default_factory=dict)
    time_column: ColumnField | None = None
    watermark: ColumnField | None = None
    at_least: _AtLeast = 1


@dataclass(frozen=True, slots=True, config=STRICT)
class HttpProbe:
    """A JSON document. The slice is there if `field` equals `equals`; the field `rows` has its number of rows.

    Fields are paths in the document: `data.status`. The status 404 means that the slice is not there yet.
    """

    url: Annotated[ConnectionText, AfterValidator(_with_placeholders)]
    field: _Text
    equals: str | int | bool = True
    rows: _Text | None = None
    headers: Headers = Field(default_factory=dict)


@dataclass(frozen=True, slots=True, config=STRICT)
class KafkaProbe:
    """A topic: each partition must have a record of the window's end or later.

    Rows are counted by offsets at timestamps.
    """

    servers: ConnectionText
    topic: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,249}$")]


@dataclass(frozen=True, slots=True, config=STRICT)
class CountsProbe:
    """Counts of records that the source and the lake report under a name (seed capability C4).

    The slice is there once the source's counts are final and, in each slot, the lake's count is within the tolerance of
    `at_least`. Slots have `slot_minutes` minutes; the first slot of a UTC day begins at minute `phase`. After late
    counts of a complete slice, `late` decides whether it is requested again or kept.
    """

    of: Annotated[str, StringConstraints(min_length=1, max_length=256)]
    at_least: Annotated[str, Field(pattern=r"^(100(\.0+)?|\d{1,2}(\.\d{1,6})?)%$")] = "99.995%"
    slot_minutes: Annotated[int, Field(ge=1, le=1440)] = 5
    phase: Annotated[int, Field(ge=0, lt=1440)] = 0
    late: LateCounts = LateCounts.RESTATE

    @property
    def share(self) -> Fraction:
        """`at_least` as an exact number."""
        return Fraction(self.at_least.rstrip("%")) / 100


@dataclass(frozen=True, slots=True, config=STRICT)
class DagsterProbe:
    """An asset of any code location: the partition, or each partition of a shorter period, is materialized."""

    asset: Annotated[str, Field(pattern=r"^[\w.-]+(/[\w.-]+)*$")]
    partition: SliceText | None = None
    each: PeriodField | None = None

    @model_validator(mode="after")
    def _names_each(self) -> "DagsterProbe":
        if self.each is not None and self.partition is None:
            raise ValueError("each needs partition, the names of the asset's partitions")
        return self


@dataclass(frozen=True, slots=True, config=STRICT)
class OwnProbe:
    """A probe of the project, by the name of its entry point in the group `tidemark.probes`."""

    entry_point: NameField
    settings: SecretSettings = Field(default_factory=dict)


@dataclass(frozen=True, slots=True, config=STRICT)
class Probe:
    """Exactly one source, and when it is probed.

    The first probe is `ready_after` the window's end. A result is trusted once it has not changed for `settle_for`. It
    is fresh for `fresh_for`, and no probe runs in that time. A late slice is probed less and less often, but at least
    every `late_every` (default: half an hour; a minute for counts, which are in the state store). A slice is probed
    again until `recheck_for` after its window's end. If it has changed then, it gets a new generation or is kept, as
    `late` says. All probes of one `system` (default: the source's address) share a limit and a circuit breaker.
    """

    delta: DeltaProbe | None = None
    files: FilesProbe | None = None
    partitions: PartitionsProbe | None = None
    sql: SqlProbe | None = None
    http: HttpProbe | None = None
    kafka: KafkaProbe | None = None
    dagster: DagsterProbe | None = None
    counts: CountsProbe | None = None
    own: OwnProbe | None = None
    system: NameField | None = None
    ready_after: DurationField = timedelta(0)
    settle_for: DurationField = timedelta(minutes=1)
    fresh_for: DurationField = timedelta(minutes=1)
    late_every: DurationField | None = None
    recheck_for: DurationField = timedelta(0)
    late: LateCounts = LateCounts.RESTATE
    timeout_seconds: Annotated[int, Field(ge=1, le=600)] = 20

    @model_validator(mode="after")
    def _has_one_source(self) -> "Probe":
        given = [name for name in SOURCES if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(f"expected exactly one of {', '.join(SOURCES)}, found {', '.join(given) or 'none'}")
        return self

    @model_validator(mode="after")
    def _checks_again(self) -> "Probe":
        if self.counts is not None and self.recheck_for:
            raise ValueError("late counts are noticed without recheck_for: declare late in counts")
        return self

    @property
    def kind(self) -> str:
        """The kind of its source, such as `sql`."""
        return next(name for name in SOURCES if getattr(self, name) is not None)

    @property
    def source(self) -> Any:
        """The declaration of its source."""
        return getattr(self, self.kind)

    @property
    def longest_wait(self) -> timedelta:
        """The longest time between two probes of a late slice."""
        return self.late_every or (timedelta(minutes=1) if self.counts is not None else LONGEST)

    @property
    def counts_rows(self) -> bool:
        """Whether it can report the number of rows."""
        return self.http is None or self.http.rows is not None

    def named(self) -> frozenset[str]:
        """The placeholders of all its texts, and `window` if the source is read by the slice's window."""
        names = {name for text in _texts(self.kind, self.source) for name, _ in placeholders(text)}
        by_window = (
            self.kafka is not None
            or self.counts is not None
            or self.own is not None
            or (self.sql is not None and self.sql.time_column is not None)
            or (self.delta is not None and (self.delta.replica_of or self.delta.time_column) is not None)
        )
        return frozenset(names | ({"window"} if by_window else set()))


SOURCES: Final = ("delta", "files", "partitions", "sql", "http", "kafka", "dagster", "counts", "own")


_TEXTS: Final = {
    "delta": ("table", "partition"),
    "files": ("path", "marker", "manifest"),
    "partitions": ("partition",),
    "sql": ("partition",),
    "http": ("url",),
    "dagster": ("partition",),
}
"""The keys of each source that hold texts with placeholders."""


def _texts(kind: str, source: Any) -> Iterator[str]:
    for name in _TEXTS.get(kind, ()):
        value = getattr(source, name)
        if value is not None:
            yield from (value,) if isinstance(value, str) else value.values()
