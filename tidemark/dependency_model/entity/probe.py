"""Probes: how an external slice is looked at - one class a kind of source (seed capabilities A5, C8).

A probe looks at exactly one slice: texts with placeholders name it (`slice_text.py`), or its window bounds what is
read. Passwords stand in environment variables that are named, `${PARTNER_URL}`: a declaration holds none.
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
        raise ValueError("only the last part of a path is a pattern: landing/{dt}/*.csv")
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
"""A text that names a slice: `dt={start:%Y-%m-%d}`."""
ConnectionText = Annotated[_Text, AfterValidator(_without_password)]
"""A text in which `${NAME}` stands for an environment variable."""
SecretSettings = Annotated[dict[NameField, str], AfterValidator(_without_secrets)]
Headers = Annotated[dict[Annotated[str, Field(pattern=r"^[A-Za-z0-9-]{1,64}$")], str], AfterValidator(_without_secrets)]
PartitionValues = dict[ColumnField, SliceText]
_AtLeast = Annotated[int, Field(ge=0)]


@dataclass(frozen=True, slots=True, config=STRICT)
class DeltaProbe:
    """A Delta table's partition, by its log alone: it holds a file, and rows are counted from the statistics.

    With `time_column` the slice is the rows whose time lies in its window, and they are read to be counted. With
    `watermark` some row of the table has to be of the window's end or later. The replica of a table of
    another center, its entity `replica_of`, has a slice once it was published there, in the last generation of it.
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
    """A directory, or a prefix of an object store: `marker` is there, and `at_least` so many other files.

    `path` may also be one file, or end with a pattern of files that lie directly in the directory: `*.csv`. Names that
    begin with `_` or `.` are no data; where `_temporary` is, somebody still writes.

    `manifest` is a file that names the others, a line each with its size behind it where it is known: all of them have
    to be there, in that size.
    """

    path: Annotated[SliceText, AfterValidator(_with_last_pattern)]
    marker: SliceText | None = None
    manifest: SliceText | None = None
    at_least: _AtLeast = 1


@dataclass(frozen=True, slots=True, config=STRICT)
class PartitionsProbe:
    """A partition of a table in folders as Hive names them (`dt=2026-03-29/hour=03`): it is there, and holds a file."""

    path: _Text
    partition: Annotated[PartitionValues, Field(min_length=1)]


@dataclass(frozen=True, slots=True, config=STRICT)
class SqlProbe:
    """Rows of a table of a database: those of the partition, and of the window by `time_column`; `at_least` so many.

    With `watermark` some row of the table has to be of the window's end or later.
    """

    url: ConnectionText
    table: Annotated[str, StringConstraints(min_length=1, max_length=256)]
    partition: PartitionValues = Field(default_factory=dict)
    time_column: ColumnField | None = None
    watermark: ColumnField | None = None
    at_least: _AtLeast = 1


@dataclass(frozen=True, slots=True, config=STRICT)
class HttpProbe:
    """A JSON document: where `field` is `equals` the slice is there; `rows` is the field that counts its rows.

    Fields are by their way through the document: `data.status`. A 404 says that nothing is there yet.
    """

    url: Annotated[ConnectionText, AfterValidator(_with_placeholders)]
    field: _Text
    equals: str | int | bool = True
    rows: _Text | None = None
    headers: Headers = Field(default_factory=dict)


@dataclass(frozen=True, slots=True, config=STRICT)
class KafkaProbe:
    """A topic: each partition holds a record of the window's end or later; rows are offsets, by timestamp."""

    servers: ConnectionText
    topic: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,249}$")]


@dataclass(frozen=True, slots=True, config=STRICT)
class CountsProbe:
    """Counts of records that the source and the lake report under a name (seed capability C4).

    The slice is there once the source's counts of it are final and the lake has `at_least` this share of each slot, and
    no more too many. Slots are of so many minutes, the first of a day in UTC at minute `phase` of it. When counts of a
    complete slice come late it is asked for again, or kept, as `late` says.
    """

    of: Annotated[str, StringConstraints(min_length=1, max_length=256)]
    at_least: Annotated[str, Field(pattern=r"^(100(\.0+)?|\d{1,2}(\.\d{1,6})?)%$")] = "99.995%"
    slot_minutes: Annotated[int, Field(ge=1, le=1440)] = 5
    phase: Annotated[int, Field(ge=0, lt=1440)] = 0
    late: LateCounts = LateCounts.RESTATE

    @property
    def share(self) -> Fraction:
        """`at_least` as a number, exactly."""
        return Fraction(self.at_least.rstrip("%")) / 100


@dataclass(frozen=True, slots=True, config=STRICT)
class DagsterProbe:
    """An asset of this or another code location: the partition is materialized, or each one of a shorter period."""

    asset: Annotated[str, Field(pattern=r"^[\w.-]+(/[\w.-]+)*$")]
    partition: SliceText | None = None
    each: PeriodField | None = None

    @model_validator(mode="after")
    def _names_each(self) -> "DagsterProbe":
        if self.each is not None and self.partition is None:
            raise ValueError("each needs partition: what the asset's partitions are called")
        return self


@dataclass(frozen=True, slots=True, config=STRICT)
class OwnProbe:
    """A probe of the project's own, by the name of its entry point in the group `tidemark.probes`."""

    entry_point: NameField
    settings: SecretSettings = Field(default_factory=dict)


@dataclass(frozen=True, slots=True, config=STRICT)
class Probe:
    """Exactly one source, and how it is treated.

    Nobody looks before `ready_after` from the window's end. What is there is believed once it stayed the same for
    `settle_for`. An answer is good for `fresh_for`: nobody asks
    again sooner. A slice that is late is looked for ever less often, but every `late_every` (default: half an hour; of
    counts, which lie in the state store, a minute). What is there is looked at for `recheck_for` after its window's
    end: where it is other than before, it is a new generation that readers follow, or kept, as `late` says. All probes
    of one `system` share its limit and its circuit breaker (default: the source's address).
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
            raise ValueError("counts that come late are noticed by themselves: say late in counts, without recheck_for")
        return self

    @property
    def kind(self) -> str:
        """Which source it has: `sql`."""
        return next(name for name in SOURCES if getattr(self, name) is not None)

    @property
    def source(self) -> Any:
        """The declaration of its source."""
        return getattr(self, self.kind)

    @property
    def longest_wait(self) -> timedelta:
        """How long at most between two looks at a slice that is late."""
        return self.late_every or (timedelta(minutes=1) if self.counts is not None else LONGEST)

    @property
    def counts_rows(self) -> bool:
        """Whether it may tell how many rows a slice has."""
        return self.http is None or self.http.rows is not None

    def named(self) -> frozenset[str]:
        """The placeholders of all its texts; `window` where the source is read by the slice itself."""
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
"""Which keys of a source hold texts with placeholders."""


def _texts(kind: str, source: Any) -> Iterator[str]:
    for name in _TEXTS.get(kind, ()):
        value = getattr(source, name)
        if value is not None:
            yield from (value,) if isinstance(value, str) else value.values()
