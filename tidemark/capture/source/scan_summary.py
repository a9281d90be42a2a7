"""The summary of a pass's records, on which all decisions are based: small groups, and binlog positions.

Two Spark jobs compute it. The first reads and caches the records; the second only extracts numbers.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from tidemark.capture.binlog.columnar_binlog import Binlog, binlogs_of
from tidemark.capture.binlog.consecutive_records import MINUTE_MS, Run
from tidemark.capture.binlog.continuity import BinlogProgress
from tidemark.capture.binlog.dropped_shards import Dropped
from tidemark.capture.binlog.event_minute_statistics import EventMinute
from tidemark.capture.binlog.gtid_policy import BinlogPolicy
from tidemark.capture.binlog.long_transactions import LongTransaction, long_transactions
from tidemark.capture.binlog.position import BinlogPlace, Position
from tidemark.capture.binlog.spark_positions import with_positions
from tidemark.capture.heartbeat.heartbeat_record import COLUMN, KNOWN, TABLE, Beat
from tidemark.capture.initial_load.load_events import FailedLoad, LoadEnd, LoadEvent, LoadRequest, parse_load_request
from tidemark.capture.initial_load.signal_table import LOAD
from tidemark.capture.initial_load.signal_table import TABLE as SIGNAL
from tidemark.capture.schema.ddl.recorded_statement import RecordedStatement
from tidemark.capture.schema.ddl.tokens import MAX_CHARACTERS
from tidemark.capture.schema.recorded_schema import RecordDeclarations, parse_declarations
from tidemark.capture.schema.schema_changes import RecordedSchemaChange
from tidemark.capture.source.possible_event_time import is_event_time

_LONGEST_DECLARATION: Final = 4_000_000
"""The most characters of a declaration. MySQL's maximum of 4,096 columns needs about 2 MB."""
_LONGEST_REQUEST: Final = 64 * 1024
_LONGEST_NAME: Final = 1_000
"""No database, table or signal has a longer name."""
_SHOWN: Final = 1_000
MOST_TEXT: Final = 64_000_000
"""The most characters of texts of one instance that a pass keeps in memory: statements, declarations, requests."""
Group = Mapping[str, Any]


class MalformedDeclaration(NamedTuple):
    """A record with an unreadable declaration; `physical` are the tables that stop because of it, if any."""

    instance: str
    offset: int
    physical: tuple[str, ...]
    problem: str


class Altered(NamedTuple):
    """The known columns whose values were altered, and the newest altered heartbeat's offset."""

    offset: int
    columns: frozenset[str]


@dataclass(frozen=True)
class Summary:
    """`groups`: one for each file, physical table and event minute, and one for each heartbeat and declaration.

    `binlogs` has the records with positions of each instance that has any.
    """

    groups: Sequence[Group]
    binlogs: Mapping[str, Binlog]

    def within(self, groups: Sequence[Group], ends: Mapping[str, int]) -> "Summary":
        """The summary of these groups, with binlogs cut at `ends` (by instance)."""
        return Summary(
            groups, {instance: binlog.before(ends.get(instance, 0)) for instance, binlog in self.binlogs.items()}
        )

    def runs(
        self, policy: BinlogPolicy, progress: Mapping[str, BinlogProgress] | None = None
    ) -> Mapping[str, Sequence[Run]]:
        """The runs of each instance's binlog, in order; `progress` is how far it was read before."""
        known = {instance: read.gtids for instance, read in (progress or {}).items()}
        runs_of = {name: binlog.runs(policy, known.get(name, {})) for name, binlog in self.binlogs.items()}
        return {instance: runs for instance, runs in runs_of.items() if runs}

    @property
    def bad(self) -> int:
        """The number of invalid records."""
        return sum(group["bad"] for group in self.groups)

    def records(self, chosen: Callable[[str, str], bool]) -> int:
        """The number of records of chosen tables; `chosen` gets the instance and the physical name."""
        mine = ((group["records"], group["instance"], group["physical"]) for group in self.groups if group["physical"])
        return sum(records for records, instance, physical in mine if chosen(instance, physical))

    @property
    def unrouted_count(self) -> int:
        """The number of changes of tables that no entity declares."""
        return sum(group["unrouted"] for group in self.groups)

    @cached_property
    def marks(self) -> Mapping[str, Sequence[EventMinute]]:
        """The event minutes of each instance."""
        marks: dict[str, dict[int, EventMinute]] = defaultdict(dict)
        for group in self.groups:
            if group["minute"] is not None:
                mark = EventMinute(group["minute"], group["first_offset"], group["newest"])
                marks[group["instance"]][mark.minute] = _both(mark, marks[group["instance"]].get(mark.minute, mark))
        return {instance: list(instance_marks.values()) for instance, instance_marks in marks.items()}

    @cached_property
    def transactions(self) -> Mapping[str, Sequence[LongTransaction]]:
        """By instance, the transactions that cover more than one minute."""
        return {instance: long_transactions(binlog) for instance, binlog in self.binlogs.items()}

    @cached_property
    def altered(self) -> Mapping[str, Altered]:
        """By instance, the altered known columns in its heartbeats."""
        altered: dict[str, Altered] = {}
        for group in self.groups:
            if group["altered"]:
                instance: str = group["instance"]
                before = altered.get(instance, Altered(0, frozenset()))
                columns = before.columns.union(group["altered"].split(","))
                altered[instance] = Altered(max(group["first_offset"], before.offset), columns)
        return altered

    @cached_property
    def first_changes(self) -> Mapping[tuple[str, str | None], int]:
        """The offset of the first row change of each (instance, physical table)."""
        first: dict[tuple[str, str | None], int] = {}
        for group in self.groups:
            if group["first_change"] is not None:
                shard = (group["instance"], group["physical"])
                first[shard] = min(group["first_change"], first.get(shard, group["first_change"]))
        return first

    @cached_property
    def schema_changes(self) -> tuple[RecordedSchemaChange, ...]:
        """All recorded schema changes, by (instance, offset)."""
        return tuple(
            RecordedSchemaChange(instance, offset, schema, position)
            for instance, offset, declarations in self._declarations
            for position in self._positions(instance, [offset])
            for schema in declarations.schemas
        )

    @cached_property
    def table_drops(self) -> tuple[Dropped, ...]:
        """All dropped tables, by (instance, offset)."""
        return tuple(
            Dropped(instance, offset, physical, position)
            for instance, offset, declarations in self._declarations
            for position in self._positions(instance, [offset])
            for physical in declarations.dropped
        )

    @cached_property
    def statements(self) -> tuple[RecordedStatement, ...]:
        """All executed statements, by (instance, offset)."""
        executed = sorted(
            (group["instance"], group["first_offset"], group["ddl"], group["ddl_database"] or "", group["is_cut"])
            for group in self.groups
            if group["ddl"] is not None
        )
        return tuple(
            RecordedStatement(instance, offset, sql, database, self._positions(instance, [offset])[0], is_cut=is_cut)
            for instance, offset, sql, database, is_cut in executed
        )

    @cached_property
    def requests(self) -> tuple[LoadRequest, ...]:
        """The requests for loads."""
        return tuple(
            parse_load_request(group["instance"], group["first_offset"], group["requested"], group["load"] or "")
            for group in self.groups
            if group["requested"] is not None
        )

    @cached_property
    def malformed_declarations(self) -> tuple[MalformedDeclaration, ...]:
        """The declarations that do not name their table."""
        return tuple(
            MalformedDeclaration(
                instance, offset, tuple(schema.physical for schema in declarations.schemas), declarations.problem
            )
            for instance, offset, declarations in self._declarations
            if declarations.problem is not None
        )

    @cached_property
    def missing_rows(self) -> tuple[LoadEvent, ...]:
        """The places where tables were found to have a pending initial load."""
        return tuple(
            LoadEvent(group["instance"], group["first_offset"], schema.physical, is_loaded=False, place=place)
            for group in self.groups
            if group["is_load"] and group["changes"] is not None
            for place in [BinlogPlace.parse(group["load_file"], group["load_pos"])]
            for schema in parse_declarations(group["changes"]).schemas
        )

    @cached_property
    def load_ends(self) -> tuple[LoadEnd, ...]:
        """The ends of loads that have read their tables."""
        return tuple(
            LoadEnd(
                group["instance"], group["first_offset"], group["loaded"], group["load"] or "", bool(group["is_empty"])
            )
            for group in self.groups
            if group["loaded"] is not None
        )

    @cached_property
    def failed_loads(self) -> tuple[FailedLoad, ...]:
        """The loads that failed before all rows were read, by (instance, offset)."""
        ended = [
            (group["instance"], group["first_offset"], *group["load_problem"].rsplit(" ", 1))
            for group in self.groups
            if group["load_problem"] is not None
        ]
        return tuple(FailedLoad(*failed) for failed in sorted(ended))

    @cached_property
    def beats(self) -> Mapping[str, Sequence[tuple[Beat, Position | None]]]:
        """By instance, the heartbeats with their writer's time, and their positions in the binlog."""
        beats_of: dict[str, list[Beat]] = defaultdict(list)
        for group in self.groups:
            if group["beat_ms"] is not None:
                beat = Beat(group["first_offset"], group["beat_ms"], group["newest"])
                beats_of[group["instance"]].append(beat)
        return {instance: self._with_positions(instance, beats) for instance, beats in beats_of.items()}

    def _with_positions(self, instance: str, beats: Sequence[Beat]) -> list[tuple[Beat, Position | None]]:
        return list(zip(beats, self._positions(instance, [beat.offset for beat in beats]), strict=True))

    def _positions(self, instance: str, offsets: Sequence[int]) -> list[Position | None]:
        binlog = self.binlogs.get(instance)
        return [None] * len(offsets) if binlog is None else binlog.positions(offsets)

    @cached_property
    def _declarations(self) -> list[tuple[str, int, RecordDeclarations]]:
        """The first of each distinct declaration: Canal repeats a table's columns in every message."""
        first: dict[tuple[str, str, int | None], Group] = {}
        for group in self.groups:
            if group["changes"] is not None:
                key = (group["instance"], group["changes"], group["alone"])
                first[key] = min(group, first.get(key, group), key=lambda candidate: candidate["first_offset"])
        parsed = [(group, parse_declarations(group["changes"], group["physical"])) for group in first.values()]
        declaring = [
            (group["instance"], group["first_offset"], declarations)
            for group, declarations in parsed
            if _declares(group, declarations)
        ]
        return sorted(declaring, key=lambda change: change[:2])


def _declares(group: Group, declarations: RecordDeclarations) -> bool:
    """Whether it declares something: an initial load reports tables as dropped before it declares them."""
    return not group["is_load"] or bool(declarations.schemas)


def summarize(records: DataFrame, reached: Mapping[str, int]) -> Summary:
    """Summarize change records. Binlogs hold the records from the offsets `reached` (by instance) on."""
    groups = _bounded(_group(records)).toArrow().to_pylist()
    return Summary(groups, binlogs_of(with_positions(records, reached).toArrow()))


def _group(records: DataFrame) -> DataFrame:
    minute = (sf.floor(sf.col("event_ms") / MINUTE_MS) * MINUTE_MS).cast("bigint")
    # The time of a loaded row does not show progress of the binlog: earlier changes may still come.
    streamed = sf.when(~sf.col("is_load"), minute).alias("minute")
    is_beat = sf.col("table") == TABLE
    # Spark groups numbers in hash tables, but sorts the records for other aggregates.
    names = ("instance", "path", "physical", "changes", "is_load", "loaded", "ddl", "ddl_database")
    # Limit the size of texts that come to this process. A cut text is too long for its parser, which reports that.
    names_of_others = dict.fromkeys(("physical", "loaded", "load_problem", "load", "ddl_database"), _LONGEST_NAME)
    longest = {"ddl": MAX_CHARACTERS + 1, "changes": _LONGEST_DECLARATION, **names_of_others}
    cut = {name: sf.substring(name, 1, length) for name, length in longest.items()}
    return (
        records.withColumns(cut)
        .groupBy(*names, streamed, _alone(is_beat | _is_request()).alias("alone"))
        .agg(
            sf.min("offset").alias("first_offset"),
            sf.max("offset").alias("last_offset"),
            sf.min(sf.when(sf.col("op").isNotNull(), sf.col("offset"))).alias("first_change"),
            sf.max("load_file").alias("load_file"),
            sf.max("load_problem").alias("load_problem"),
            sf.max(sf.coalesce("load", sf.when(_is_request(), _text_after("$.id", _LONGEST_NAME)))).alias("load"),
            sf.bool_or("is_empty").alias("is_empty"),
            sf.max(sf.when(sf.col("is_load"), sf.col("binlog_pos"))).alias("load_pos"),
            sf.max("event_ms").alias("newest"),
            sf.count("*").alias("records"),
            sf.count_if(sf.col("raw").isNotNull() & sf.col("problem").isNull()).alias("unrouted"),
            sf.count("problem").alias("bad"),
            sf.min(sf.when(is_beat, _beat_ms())).alias("beat_ms"),
            sf.max(sf.when(is_beat & ~sf.col("is_load"), _altered())).alias("altered"),
            sf.min(sf.when(_is_request(), _text_after("$.data", _LONGEST_REQUEST))).alias("requested"),
        )
    )


def _bounded(groups: DataFrame) -> DataFrame:
    """The groups, with the sum of their texts limited for each instance; `is_cut` are the others, in order of offsets.

    What is left of a declaration or a request is unreadable, and of a statement its beginning.
    """
    size = sum((sf.length(sf.coalesce(name, sf.lit(""))) for name in ("ddl", "changes", "requested")), sf.lit(0))
    so_far = Window.partitionBy("instance").orderBy("first_offset").rowsBetween(Window.unboundedPreceding, 0)
    is_cut = sf.col("is_cut")
    unreadable = sf.concat(sf.lit("?"), sf.coalesce("physical", sf.lit("")))
    return groups.withColumn("is_cut", sf.sum(size).over(so_far) > MOST_TEXT).withColumns(
        {
            "ddl": sf.when(is_cut, sf.substring("ddl", 1, _SHOWN)).otherwise(sf.col("ddl")),
            "changes": sf.when(is_cut & sf.col("changes").isNotNull(), unreadable).otherwise(sf.col("changes")),
            "requested": sf.when(is_cut, sf.substring("requested", 1, 1)).otherwise(sf.col("requested")),
        }
    )


def _text_after(path: str, longest: int) -> Column:
    return sf.substring(sf.get_json_object("after", path), 1, longest + 1)


def _is_request() -> Column:
    """Whether a user requests a load. The connector also writes its own marks into the signal table."""
    signal = (sf.col("table") == SIGNAL) & (sf.col("op") == "c")
    return sf.coalesce(signal & (sf.get_json_object("after", "$.type") == LOAD), sf.lit(col=False))


def _alone(is_single: Column) -> Column:
    """The offset of a record that forms a group of its own, else NULL."""
    is_declaration = sf.col("changes").isNotNull() & ~sf.col("text")
    is_told = sf.coalesce("loaded", "load_problem", "ddl").isNotNull()
    return sf.when(is_single | is_declaration | is_told, sf.col("offset"))


def _beat_ms() -> Column:
    beat_ms = sf.unix_millis(sf.get_json_object("after", f"$.{COLUMN}").try_cast("timestamp"))
    return sf.when(is_event_time(beat_ms), beat_ms)


def _altered() -> Column:
    """The names of the known columns with another value. Columns that the table lacks are skipped."""
    altered = []
    for known in KNOWN:
        sent = sf.get_json_object("after", f"$.{known.name}")
        altered.append(sf.when(sent.isNotNull() & ~sent.isin(*known.sent), known.name))
    return sf.concat_ws(",", *altered)


def _both(minute: EventMinute, other: EventMinute) -> EventMinute:
    return EventMinute(
        minute.minute, min(minute.first_offset, other.first_offset), max(minute.newest_ms, other.newest_ms)
    )
